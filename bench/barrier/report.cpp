// SPDX-License-Identifier: Apache-2.0
// Results as text.
#include "bench/barrier/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/floors/report.hpp"
#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

bool crowded(const measurement& m) { return m.threads > cores_of(*m.where).size(); }

// Floors of the rounds; of an unpinned or flagged run, those measured between the rounds.
std::vector<double> floors_of(const suite& s, const measurement& m) {
  if (!m.floors.empty()) return m.floors;
  if (crowded(m)) return s.floors().yield_rotation(m.threads, cores_of(*m.where));
  return s.floors().line_one_way();
}

std::string line_of(const suite& s, const measurement& m) {
  ordered_json line{{"benchmark", "barrier"},      {"provider", m.who->family},
                    {"name", m.who->name},         {"wait", m.who->wait},
                    {"threads", m.threads},        {"cores", cores_of(*m.where).size()},
                    {"pinned", m.where->pinned()}, {"pin", m.where->name},
                    {"scenario", m.when->name},    {"session", session_of(*m.when)},
                    {"metric", name_of(m.what)}};
  add_record(line, m, crowded(m) ? "yield_rotation" : "line_one_way", floors_of(s, m));
  if (m.what == metric::cpu_time) line["cpus_used"] = rounded(median_of(m.cpus_used));
  if (m.what == metric::recover) line["unrecovered"] = m.unrecovered;
  return cli::result_line(line);
}

std::string line_of(const not_measured& n) {
  return cli::skipped_line({{"benchmark", "barrier"},
                            {"provider", n.who->family},
                            {"name", n.who->name},
                            {"wait", n.who->wait},
                            {"threads", n.threads},
                            {"scenario", n.when->name},
                            {"session", session_of(*n.when)}},
                           n.reason);
}

std::string who_text(const provider& p) {
  const std::string name = p.family == p.name ? p.name : p.family + " " + p.name;
  return p.wait.empty() ? name : name + ", " + p.wait;
}

std::string heading(const measurement& m) {
  const std::size_t cores = cores_of(*m.where).size();
  const std::string place =
      m.where->pinned() ? fmt::format("pinned ({})", m.where->name) : "unpinned";
  return fmt::format("{} threads on {} core{}, {}, {}: {}", m.threads, cores, cores == 1 ? "" : "s",
                     place, words_of(*m.when), name_of(m.what));
}

// Groups in the order of the plan, the fastest first in each.
std::vector<const measurement*> sorted(const suite& s) {
  std::vector<const measurement*> order;
  for (const auto& m : s.results()) {
    if (!m.samples.empty()) order.push_back(&m);
  }
  const auto key = [](const measurement* m) {
    return std::tuple(m->threads, m->where, m->when, m->what, median_of(m->samples));
  };
  std::vector<std::pair<decltype(key(order[0])), const measurement*>> keyed;
  for (const auto* m : order) keyed.emplace_back(key(m), m);
  std::sort(keyed.begin(), keyed.end());
  std::transform(keyed.begin(), keyed.end(), order.begin(), [](const auto& k) { return k.second; });
  return order;
}

std::string ratio_text(const measurement& m) {
  return m.ratios.empty() ? "-" : fmt::format("{:.2f}", median_of(m.ratios));
}

}  // namespace

std::string json_lines(const barrier_plan& plan, const suite& s, ordered_json machine) {
  std::vector<std::string> pinning;
  for (const auto& where : plan.placements) pinning.push_back(where.name);
  machine["pinning"] = pinning;
  machine["seed"] = plan.length.seed;
  machine["sweeps"] = s.sweeps();
  machine["clock_bound_ns"] = rounded(s.clock_bound_ns());
  std::string text = machine.dump() + "\n";
  text += floor_lines(s.floors());
  for (const auto& m : s.results()) {
    if (!m.samples.empty()) text += line_of(s, m);
  }
  for (const auto& n : s.failures()) text += line_of(n);
  text += impossible_lines("barrier", plan.threads, s.impossible());
  for (const auto& missing : missing_peers()) {
    text +=
        cli::skipped_line({{"benchmark", "barrier"}, {"provider", missing.family}}, missing.reason);
  }
  return text;
}

std::string table(const barrier_plan& /*plan*/, const suite& s, const ordered_json& machine) {
  std::string text = machine_heading(machine) + "\n" + floors_table(s.floors());
  std::string group;
  for (const measurement* m : sorted(s)) {
    if (heading(*m) != group) {
      group = heading(*m);
      text += fmt::format("\n{}\n  {:<42} {:>10} {:>10} {:>10} {:>8} {:>9}\n", group, "", "min",
                          "median", "p99", "samples", "x floor");
    }
    const summary r = summarize(m->samples);
    text += fmt::format("  {:<42} {:>10} {:>10} {:>10} {:>8} {:>9}\n", who_text(*m->who),
                        format_ns(r.min), format_ns(r.median), format_ns(r.p99), r.samples,
                        ratio_text(*m));
  }
  text += fmt::format(
      "\nEach figure is the time of one episode; median of {} interleaved sweeps. \"x floor\": "
      "against the one-way\nline transfer measured beside the same round, or, with more threads "
      "than cores, against yield_rotation.\n",
      s.sweeps());
  for (const auto& i : s.impossible()) {
    text += fmt::format("not measured: {}: {}\n", i.when->name, i.reason);
  }
  for (const auto& n : s.failures()) {
    text += fmt::format("not measured: {} with {} threads, {}: {}\n", who_text(*n.who), n.threads,
                        words_of(*n.when), n.reason);
  }
  return text;
}

}  // namespace tutti::bench
