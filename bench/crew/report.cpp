// SPDX-License-Identifier: Apache-2.0
// Results as text.
#include "bench/crew/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/floors/report.hpp"
#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

bool is_default(const crew_provider& who) { return who.family == "tutti" && who.name == "default"; }

// The measurement that `m` is compared with; null: there is none.
template <class Matches>
const crew_measurement* find_beside(const crew_suite& s, const crew_measurement& m,
                                    Matches matches) {
  for (const auto& other : s.results()) {
    if (m.same_situation(other) && !other.samples.empty() && matches(other)) return &other;
  }
  return nullptr;
}

// Against tutti's default at the same; 0: not known.
double over_default(const crew_suite& s, const crew_measurement& m) {
  const auto* other = find_beside(
      s, m, [&](const crew_measurement& o) { return o.kind == m.kind && is_default(*o.who); });
  return other == nullptr ? 0 : paired_ratio(m, *other);
}

// A reduction against the barrier alone of the same provider; 0: not known.
double over_barrier(const crew_suite& s, const crew_measurement& m) {
  if (!m.kind.inside || m.kind.width == 0) return 0;
  const auto* other = find_beside(s, m, [&](const crew_measurement& o) {
    return o.who == m.who && o.kind == episode_kind{true, 0};
  });
  return other == nullptr ? 0 : paired_ratio(m, *other);
}

ordered_json known(double ratio) {
  return ratio > 0 ? ordered_json(rounded(ratio)) : ordered_json(nullptr);
}

// Floors of the rounds; of an unpinned or flagged run, those measured between the rounds.
std::vector<double> floors_of(const crew_suite& s, const crew_measurement& m) {
  if (m.crowded()) return s.floors().yield_rotation(m.shape.threads, cores_of(*m.where));
  return s.floors().line_one_way();
}

std::string line_of(const crew_plan& plan, const crew_suite& s, const crew_measurement& m) {
  ordered_json line{{"benchmark", plan.benchmark}, {"kind", name_of(m.kind)},
                    {"provider", m.who->family},   {"name", m.who->name},
                    {"wait", m.who->wait},         {"threads", m.shape.threads},
                    {"ranks", m.shape.ranks},      {"cores", cores_of(*m.where).size()},
                    {"pinned", m.where->pinned()}, {"pin", m.where->name},
                    {"scenario", m.when->name},    {"session", session_of(*m.when)},
                    {"metric", name_of(m.what)}};
  add_record(line, m, m.crowded() ? "yield_rotation" : "line_one_way", floors_of(s, m));
  line["over_default_median"] = known(over_default(s, m));
  line["over_barrier_median"] = known(over_barrier(s, m));
  return cli::result_line(line);
}

std::string line_of(const crew_plan& plan, const crew_failure& f) {
  return cli::skipped_line({{"benchmark", plan.benchmark},
                            {"kind", name_of(f.kind)},
                            {"provider", f.who->family},
                            {"name", f.who->name},
                            {"wait", f.who->wait},
                            {"threads", f.shape.threads},
                            {"ranks", f.shape.ranks},
                            {"scenario", f.when->name},
                            {"session", session_of(*f.when)}},
                           f.reason);
}

std::string what_text(const episode_kind& kind) {
  const std::string sum = fmt::format("sum of {} double{}", kind.width, kind.width == 1 ? "" : "s");
  if (kind.elements > 0) return fmt::format("y += a x of {} elements", kind.elements);
  if (kind.inside) return kind.width == 0 ? "barrier inside a region" : sum + ", to all";
  return kind.width == 0 ? "empty region" : "region and " + sum;
}

std::string metric_text(crew_metric m) {
  switch (m) {
    case crew_metric::loop: return "";
    case crew_metric::latency: return ": latency after the gap";
    case crew_metric::cpu_time: return ": processor time of each other thread, an episode";
  }
  return "";
}

std::string heading(const crew_measurement& m) {
  const std::size_t cores = cores_of(*m.where).size();
  const std::string who =
      m.shape.ranks == m.shape.threads
          ? fmt::format("{} threads", m.shape.threads)
          : fmt::format("{} ranks on {} threads", m.shape.ranks, m.shape.threads);
  return fmt::format("{}: {} on {} core{}, {}, {}{}", what_text(m.kind), who, cores,
                     cores == 1 ? "" : "s",
                     m.where->pinned() ? fmt::format("pinned ({})", m.where->name) : "unpinned",
                     words_of(*m.when), metric_text(m.what));
}

// Groups in the order of the plan, the fastest first in each.
std::vector<const crew_measurement*> sorted(const crew_suite& s) {
  std::vector<const crew_measurement*> order;
  for (const auto& m : s.results()) {
    if (!m.samples.empty()) order.push_back(&m);
  }
  const auto key = [](const crew_measurement* m) {
    return std::tuple(m->shape.ranks != m->shape.threads, m->shape.ranks, m->shape.threads,
                      m->where, m->when, m->kind.inside, m->kind.width, m->kind.elements, m->what,
                      median_of(m->samples));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return key(a) < key(b); });
  return order;
}

std::string ratio_text(double ratio) { return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-"; }

std::string row(const crew_suite& s, const crew_measurement& m) {
  const summary r = summarize(m.samples);
  return fmt::format("  {:<38} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>10}\n", name_of(*m.who),
                     format_ns(r.min), format_ns(r.median), format_ns(r.p99), r.samples,
                     ratio_text(median_of(m.ratios)), ratio_text(over_default(s, m)),
                     ratio_text(over_barrier(s, m)));
}

}  // namespace

std::string name_of(const crew_provider& who) {
  const std::string name = who.family == who.name ? who.name : who.family + " " + who.name;
  return who.wait.empty() ? name : name + ", " + who.wait;
}

std::string json_lines(const crew_plan& plan, const crew_suite& s, ordered_json machine,
                       const std::vector<missing_crew>& missing) {
  std::vector<std::string> pinning;
  for (const auto& where : plan.placements) pinning.push_back(where.name);
  machine["pinning"] = pinning;
  machine["seed"] = plan.length.seed;
  machine["sweeps"] = s.sweeps();
  std::string text = machine.dump() + "\n" + floor_lines(s.floors());
  for (const auto& m : s.results()) {
    if (!m.samples.empty()) text += line_of(plan, s, m);
  }
  for (const auto& f : s.failures()) text += line_of(plan, f);
  std::vector<rank_t> threads;
  for (const auto& shape : plan.shapes) {
    if (shape.ranks == shape.threads) threads.push_back(shape.threads);
  }
  text += impossible_lines(plan.benchmark, threads, s.impossible());
  for (const auto& m : missing) {
    text += cli::skipped_line({{"benchmark", plan.benchmark}, {"provider", m.family}}, m.reason);
  }
  return text;
}

std::string table(const crew_plan& /*plan*/, const crew_suite& s, const ordered_json& machine) {
  std::string text = machine_heading(machine) + "\n" + floors_table(s.floors());
  std::string group;
  for (const crew_measurement* m : sorted(s)) {
    if (heading(*m) != group) {
      group = heading(*m);
      text += fmt::format("\n{}\n  {:<38} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>10}\n", group, "",
                          "min", "median", "p99", "samples", "x floor", "x tutti", "x barrier");
    }
    text += row(s, *m);
  }
  text += fmt::format(
      "\nEach figure is the time of one region or of one episode inside a region; {} interleaved "
      "sweeps. Medians of the\nrounds' own ratios: \"x floor\" to the one-way line transfer "
      "measured beside the round, or, with more threads than\ncores, to yield_rotation; \"x "
      "tutti\" to tutti's default and \"x barrier\" to the provider's own barrier, in the same "
      "sweep.\n",
      s.sweeps());
  for (const auto& i : s.impossible()) {
    text += fmt::format("not measured: {}: {}\n", i.when->name, i.reason);
  }
  for (const auto& f : s.failures()) {
    text += fmt::format("not measured: {}, {} with {} ranks, {}: {}\n", name_of(*f.who),
                        what_text(f.kind), f.shape.ranks, words_of(*f.when), f.reason);
  }
  return text;
}

}  // namespace tutti::bench
