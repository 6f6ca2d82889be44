// SPDX-License-Identifier: Apache-2.0
// Makes a plan from the options.
#include "workloads/synthetic/program/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cli/lists.hpp"
#include "workloads/synthetic/walk.hpp"

namespace tutti::synthetic {
namespace {

// The values of N in tables I and II of Berger and Stamatakis 2010.
constexpr std::uint64_t regions_without_work = 10'000'000, regions_with_work = 100'000;
constexpr std::uint64_t longest = std::uint64_t{1} << 30;
constexpr std::uint32_t most_threads = 1024;

bench::placement parse_pin(const std::string& text) {
  try {
    return bench::make_placement(text);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument(fmt::format("--pin: {}", e.what()));
  }
}

std::vector<situation> parse_situations(const request& r, const std::vector<rank_t>& threads) {
  const std::vector<std::string> accesses = cli::split("--access", r.access);
  for (const std::string& access : accesses)
    if (access != "stream" && access != "random")
      throw std::invalid_argument(
          fmt::format("--access: '{}' is not one of stream, random", access));
  std::vector<situation> made;
  for (const std::string& set : cli::split("--set", r.sets)) {
    for (const rank_t ranks : threads) set_bytes(set, ranks);
    if (set == "none") {
      made.emplace_back();
      continue;
    }
    for (const std::string& access : accesses)
      made.push_back({access + "_" + set, set, access == "random"});
  }
  return made;
}

}  // namespace

// With the programs of this benchmark instead of those of `tutti bench`.
bench::peer_list peers() {
  bench::peer_list list = bench::peers_of(bench::operation::region, "synthetic-");
  std::erase_if(list.peers, [](const bench::contender& p) { return p.only_loops; });
  return list;
}

plan make_plan(const request& r) {
  using namespace cli;
  plan p;
  p.length = parse_integer("--length", r.length, 0, longest);
  p.regions = p.length == 0 ? regions_without_work : regions_with_work;
  if (!r.regions.empty()) p.regions = parse_integer("--regions", r.regions, 1, UINT64_MAX);
  p.threads = parse_counts("--threads", r.threads, most_threads);
  p.situations = parse_situations(r, p.threads);
  p.lines = parse_integer("--lines", r.lines, 1, longest);
  p.where = parse_pin(r.pin);
  p.run.seconds = parse_number("--seconds", r.seconds, 0.1, 86400);
  p.run.seed = parse_integer("--seed", r.seed, 0, UINT64_MAX);
  p.contenders = bench::choose_teams(split("--barrier", r.barriers), split("--wait", r.waits));
  for (auto& peer : bench::choose(peers(), split("--peers", r.peers))) {
    p.contenders.push_back(std::move(peer));
  }
  if (p.contenders.empty()) {
    throw std::invalid_argument("there is nothing to measure: --barrier and --peers are both none");
  }
  return p;
}

}  // namespace tutti::synthetic
