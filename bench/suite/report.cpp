// SPDX-License-Identifier: Apache-2.0
// Results as text.
#include "bench/suite/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/floors/report.hpp"
#include "bench/harness/statistics.hpp"
#include "cli/result_line.hpp"

namespace tutti::bench {
namespace {

bool is_default(const contender& who) { return who.family == "tutti" && who.name == "default"; }

bool of_barrier(const situation& s) { return s.kind.what == operation::barrier; }

// The measurement that `m` is compared with; null: there is none.
template <class Matches>
const measurement* find_beside(const suite& s, const measurement& m, Matches matches) {
  for (const auto& other : s.results()) {
    if (m.what == other.what && m.same_but_for_who_and_kind(other) && !other.samples.empty() &&
        matches(other)) {
      return &other;
    }
  }
  return nullptr;
}

// Against tutti's default at the same; 0: not known.
double over_default(const suite& s, const measurement& m) {
  const auto* other = find_beside(
      s, m, [&](const measurement& o) { return o.kind == m.kind && is_default(*o.who); });
  return other == nullptr ? 0 : paired_ratio(m, *other);
}

// A reduction against the barrier alone of the same contender; 0: not known.
double over_barrier(const suite& s, const measurement& m) {
  const episode_kind barrier{operation::collective, 0};
  if (m.kind.what != barrier.what || m.kind == barrier) return 0;
  const auto* other =
      find_beside(s, m, [&](const measurement& o) { return o.who == m.who && o.kind == barrier; });
  return other == nullptr ? 0 : paired_ratio(m, *other);
}

cli::json known(double ratio) { return ratio > 0 ? cli::json(rounded(ratio)) : cli::json(nullptr); }

// An unpinned or flagged run has the floors that were measured between the rounds.
std::vector<double> floors_between_rounds(const suite& s, const situation& m) {
  if (m.crowded()) return s.floors().yield_rotation(m.size.threads, cores_of(*m.where));
  return s.floors().line_one_way(*m.where);
}

// Who, what and where, of a measurement or of what could not be measured.
cli::json keys_of(const plan& p, const situation& m) {
  cli::json keys{{"benchmark", p.benchmark}};
  if (!of_barrier(m)) keys["kind"] = name_of(m.kind);
  keys["provider"] = m.who->family;
  keys["name"] = m.who->name;
  keys["wait"] = m.who->wait;
  keys["threads"] = m.size.threads;
  if (!of_barrier(m)) keys["ranks"] = m.size.ranks;
  keys["scenario"] = m.when->name;
  keys["session"] = session_of(*m.when);
  keys["cores"] = cores_of(*m.where).size();
  keys["pinned"] = m.where->pinned();
  keys["pin"] = m.where->name;
  return keys;
}

std::string line_of(const plan& p, const suite& s, const measurement& m) {
  cli::json line = keys_of(p, m);
  line["metric"] = name_of(m.what);
  add_record(line, m, m.crowded() ? "yield_rotation" : "line_one_way", floors_between_rounds(s, m));
  if (m.what == metric::recover) line["unrecovered"] = m.unrecovered;
  if (of_barrier(m)) {
    if (m.what == metric::cpu_time) line["cpus_used"] = rounded(median_of(m.cpus_used));
  } else {
    line["over_default_median"] = known(over_default(s, m));
    line["over_barrier_median"] = known(over_barrier(s, m));
  }
  return cli::result_line(line);
}

std::string what_text(const episode_kind& kind) {
  const std::string sum = fmt::format("sum of {} double{}", kind.width, kind.width == 1 ? "" : "s");
  if (kind.elements > 0) return fmt::format("y += a x of {} elements", kind.elements);
  switch (kind.what) {
    case operation::barrier:
    case operation::event: break;
    case operation::region: return kind.width == 0 ? "empty region" : "region and " + sum;
    case operation::collective:
      return kind.width == 0 ? "barrier inside a region" : sum + ", to all";
  }
  return "barrier";
}

std::string metric_text(const measurement& m) {
  if (of_barrier(m)) return fmt::format(": {}", name_of(m.what));
  if (m.what == metric::latency) return ": latency after the gap";
  if (m.what == metric::cpu_time) return ": processor time of each other thread, an episode";
  return "";
}

std::string place_text(const placement& where) {
  return where.pinned() ? fmt::format("pinned ({})", where.name) : "unpinned";
}

std::string heading(const measurement& m) {
  const std::size_t cores = cores_of(*m.where).size();
  const std::string who = m.size.has_fibers()
                              ? fmt::format("{} ranks on {} threads", m.size.ranks, m.size.threads)
                              : fmt::format("{} threads", m.size.threads);
  return fmt::format("{}{} on {} core{}, {}, {}{}", of_barrier(m) ? "" : what_text(m.kind) + ": ",
                     who, cores, cores == 1 ? "" : "s", place_text(*m.where), words_of(*m.when),
                     metric_text(m));
}

// Groups in the order of the plan, the fastest first in each.
std::vector<const measurement*> sorted(const suite& s) {
  std::vector<const measurement*> order;
  for (const auto& m : s.results()) {
    if (!m.samples.empty()) order.push_back(&m);
  }
  const auto key = [](const measurement* m) {
    return std::tuple(m->size.has_fibers(), m->size.ranks, m->size.threads, m->where, m->when,
                      m->kind.what, m->kind.width, m->kind.elements, m->what,
                      median_of(m->samples));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return key(a) < key(b); });
  return order;
}

std::string ratio_text(double ratio) { return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-"; }

std::string row(const plan& p, const suite& s, const measurement& m) {
  const summary r = summarize(m.samples);
  std::string text = fmt::format("  {:<40} {:>10} {:>10} {:>10} {:>8} {:>9}", name_of(*m.who),
                                 format_ns(r.min), format_ns(r.median), format_ns(r.p99), r.samples,
                                 ratio_text(median_of(m.ratios)));
  if (p.benchmark != "barrier") {
    text += fmt::format(" {:>8} {:>10}", ratio_text(over_default(s, m)),
                        ratio_text(over_barrier(s, m)));
  }
  return text + "\n";
}

std::string head_of_group(const plan& p, const std::string& group) {
  std::string text = fmt::format("\n{}\n  {:<40} {:>10} {:>10} {:>10} {:>8} {:>9}", group, "",
                                 "min", "median", "p99", "samples", "x floor");
  if (p.benchmark != "barrier") text += fmt::format(" {:>8} {:>10}", "x tutti", "x barrier");
  return text + "\n";
}

std::string explanation(const plan& p, const suite& s) {
  if (p.benchmark == "barrier") {
    return fmt::format(
        "\nEach figure is the time of one episode; median of {} interleaved sweeps. \"x floor\": "
        "against the one-way\nline transfer measured beside the same round, or, with more threads "
        "than cores, against yield_rotation.\n",
        s.sweeps());
  }
  return fmt::format(
      "\nEach figure is the time of one region or of one episode inside a region; {} interleaved "
      "sweeps. Medians of the\nrounds' own ratios: \"x floor\" to the one-way line transfer "
      "measured beside the round, or, with more threads than\ncores, to yield_rotation; \"x "
      "tutti\" to tutti's default and \"x barrier\" to the contender's own barrier, in the same "
      "sweep.\n",
      s.sweeps());
}

}  // namespace

std::vector<std::string> sentences_of_failures(const suite& s) {
  std::vector<std::string> sentences;
  for (const auto& n : s.failures()) {
    sentences.push_back(fmt::format("{}, {} with {} {}, {}, {}, was not measured: {}",
                                    name_of(*n.who), what_text(n.kind), n.size.ranks,
                                    n.size.has_fibers() ? "ranks" : "threads", place_text(*n.where),
                                    words_of(*n.when), n.reason));
  }
  for (const auto& i : s.impossible()) {
    sentences.push_back(fmt::format("{} is not measured: {}", i.when->name, i.reason));
  }
  if (sentences.empty() && s.results().empty())
    sentences.emplace_back("nothing was measured: nobody can do this with so many threads");
  return sentences;
}

std::string json_lines(const plan& p, const suite& s, cli::json machine,
                       const std::vector<missing_peer>& missing) {
  std::vector<std::string> pinning;
  for (const auto& where : p.placements) pinning.push_back(where.name);
  machine["pinning"] = pinning;
  machine["seed"] = p.length.seed;
  machine["sweeps"] = s.sweeps();
  machine["clock_bound_ns"] = rounded(s.clock_bound_ns());
  std::string text = machine.dump() + "\n" + floor_lines(s.floors());
  for (const auto& m : s.results()) {
    if (!m.samples.empty()) text += line_of(p, s, m);
  }
  for (const auto& n : s.failures()) text += cli::skipped_line(keys_of(p, n), n.reason);
  std::vector<rank_t> threads;
  for (const auto& size : p.shapes) {
    if (!size.has_fibers()) threads.push_back(size.threads);
  }
  text += impossible_lines(p.benchmark, threads, s.impossible());
  for (const auto& m : missing) {
    text += cli::skipped_line({{"benchmark", p.benchmark}, {"provider", m.family}}, m.reason);
  }
  return text;
}

std::string table(const plan& p, const suite& s, const cli::json& machine) {
  std::string text = machine_heading(machine) + "\n" + floors_table(s.floors());
  std::string group;
  for (const measurement* m : sorted(s)) {
    if (heading(*m) != group) {
      group = heading(*m);
      text += head_of_group(p, group);
    }
    text += row(p, s, *m);
  }
  return text + explanation(p, s);
}

}  // namespace tutti::bench
