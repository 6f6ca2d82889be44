// SPDX-License-Identifier: Apache-2.0
// Runs a plan.
#include "workloads/streamcluster/program/sweep.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "tutti/registry.hpp"

namespace tutti::streamcluster {
namespace {

team_options team_of(const setting& s) {
  team_options o;
  o.threads = s.threads;
  o.ranks = s.ranks;
  if (s.kind == collectives_kind::team && s.barrier != default_algorithm) o.barrier = s.barrier;
  if (!s.wait.empty()) o.wait = s.wait;
  return o;
}

std::string name_of(const setting& s) {
  return fmt::format("{} with {} thread{}", s.barrier, s.threads, s.threads == 1 ? "" : "s");
}

}  // namespace

sweep run_plan(const plan& p, const std::function<void(const std::string&, double)>& progress) {
  sweep all;
  for (const setting& s : p.settings) all.measurements.push_back({&s, {}, {}});
  const double runs = static_cast<double>(p.repeat) * static_cast<double>(p.settings.size());
  double done = 0;
  std::optional<std::uint64_t> first;
  for (std::uint64_t round = 0; round < p.repeat; ++round) {
    for (measurement& m : all.measurements) {
      options how = p.how;
      how.collectives = m.where->kind;
      how.on_progress = [&](std::uint64_t points) {
        // The number of points of a file is not known in advance.
        const double part =
            p.is_file ? 0 : static_cast<double>(points) / static_cast<double>(p.points);
        progress(fmt::format("{}: {} points", name_of(*m.where), points), (done + part) / runs);
      };
      const auto points = p.open();
      team ranks(team_of(*m.where));
      clustering found = cluster(ranks, *points, how);
      if (!first) first = fingerprint(found);
      if (fingerprint(found) != *first) {
        throw std::runtime_error(
            fmt::format("the result of {} ({:016x}) is not that of {} ({:016x})", name_of(*m.where),
                        fingerprint(found), name_of(p.settings[0]), *first));
      }
      m.seconds.push_back(found.counts.seconds);
      m.counts = found.counts;
      all.found = std::move(found);
      done += 1;
    }
  }
  return all;
}

}  // namespace tutti::streamcluster
