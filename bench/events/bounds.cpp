// SPDX-License-Identifier: Apache-2.0
// The bounds of events. Each compares two series of the same sweeps, or a series with the floor
// that was measured between its rounds, so that a machine whose speed drifts shifts both sides.
#include "bench/events/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bench/events/bare_word.hpp"
#include "bench/events/report.hpp"
#include "bench/floors/report.hpp"
#include "bench/harness/statistics.hpp"

namespace tutti::bench {
namespace {

// One series of the suite.
struct subject {
  std::string_view family, name, wait;
  rank_t receivers;
  std::string_view when;

  bool is(const contender& who, rank_t n, const scenario& s) const {
    return who.family == family && who.name == name && who.wait == wait && n == receivers &&
           s.name == when;
  }
};

// `ours` may take `factor` times the least of `others`, or the floor if there are none, and `ns`.
struct rule {
  std::string_view what;
  subject ours;
  series_record event_result::*metric;
  std::string_view limit;
  std::vector<subject> others;
  double factor;
  double ns = 0;
  // What takes at least the time of `ours`.
  std::optional<subject> floor = {};
};

// After 5 us receivers that poll are awake, after 1 ms they sleep by their policy.
constexpr std::string_view awake = "gap_5us", asleep = "gap_1ms";

subject event_with(std::string_view wait, rank_t receivers, std::string_view when) {
  return {"tutti", "event", wait, receivers, when};
}
subject bare(std::string_view wait, rank_t receivers) {
  return {"bare", "word", wait, receivers, awake};
}
subject futex(rank_t receivers, std::string_view when) {
  return {"futex", "futex", "", receivers, when};
}
subject pthread_cond(rank_t receivers, std::string_view when) {
  return {"pthread", "pthread_cond", "", receivers, when};
}

const std::vector<rule>& rules() {
  static const std::vector<rule> all = {
      {"one receiver that spins",
       event_with("spin", 1, awake),
       &event_result::each,
       "1.5 line transfers and 30 ns",
       {},
       1.5,
       30,
       bare("spin", 1)},
      {"one receiver that polls, adaptive",
       event_with("adaptive", 1, awake),
       &event_result::each,
       "1.5 line transfers and 30 ns",
       {},
       1.5,
       30},
      {"one receiver that sleeps",
       event_with("park", 1, asleep),
       &event_result::each,
       "1.05 times a raw futex",
       {futex(1, asleep)},
       1.05},
      {"the last of 8 that yield, adaptive",
       event_with("adaptive", 8, awake),
       &event_result::last,
       "1.5 rotations",
       {},
       1.5},
      {"the last of 8 that yield, adaptive",
       event_with("adaptive", 8, awake),
       &event_result::last,
       "a third of pthread_cond_broadcast",
       {pthread_cond(8, awake)},
       1.0 / 3},
      {"sigma over 8 that yield, adaptive",
       event_with("adaptive", 8, awake),
       &event_result::sigma,
       "a third of pthread_cond_broadcast",
       {pthread_cond(8, awake)},
       1.0 / 3,
       0,
       bare("yield", 8)},
      {"the last of 8 that sleep",
       event_with("park", 8, asleep),
       &event_result::last,
       "1.1 times the best of futex and pthread_cond",
       {futex(8, asleep), pthread_cond(8, asleep)},
       1.1},
      {"the last of 8 virtual ranks that sleep",
       {"tutti", "ranks", "park", 8, asleep},
       &event_result::last,
       "1.2 times one wake-up on each core",
       {event_with("park", 2, asleep)},
       1.2},
  };
  return all;
}

bool is_compared(const contender& who, rank_t receivers, const scenario& when) {
  const auto is_it = [&](const subject& s) { return s.is(who, receivers, when); };
  return std::any_of(rules().begin(), rules().end(), [&](const rule& r) {
    return is_it(r.ours) || (r.floor && is_it(*r.floor)) ||
           std::any_of(r.others.begin(), r.others.end(), is_it);
  });
}

// A value for each sweep.
using by_sweep = std::map<std::size_t, double>;

const event_result* find(const event_suite& s, const subject& wanted) {
  for (const event_result& r : s.results())
    if (wanted.is(*r.who, r.receivers, *r.when)) return &r;
  return nullptr;
}

by_sweep medians_of(const event_suite& s, const subject& wanted,
                    series_record event_result::*metric) {
  const event_result* found = find(s, wanted);
  if (found == nullptr) return {};
  const auto& medians = (found->*metric).medians;
  return {medians.begin(), medians.end()};
}

// The floors that belong to the rounds of our series.
by_sweep floors_of(const event_suite& s, const rule& r) {
  const event_result* found = find(s, r.ours);
  if (found == nullptr) return {};
  const series_record& record = found->*r.metric;
  by_sweep floors;
  if (record.floors.size() != record.medians.size()) return floors;
  for (std::size_t i = 0; i < record.floors.size(); ++i)
    floors[record.medians[i].first] = record.floors[i];
  return floors;
}

std::optional<double> least_at(const std::vector<by_sweep>& series, std::size_t sweep) {
  double least = std::numeric_limits<double>::infinity();
  for (const by_sweep& one : series) {
    const auto at = one.find(sweep);
    if (at == one.end()) return std::nullopt;
    least = std::min(least, at->second);
  }
  return least;
}

event_bound measured(const event_suite& s, const rule& r, const subject& ours_or_floor) {
  std::vector<by_sweep> others;
  for (const subject& other : r.others) others.push_back(medians_of(s, other, r.metric));
  if (others.empty()) others.push_back(floors_of(s, r));
  std::vector<double> ours, limits, shares;
  for (const auto& [sweep, ns] : medians_of(s, ours_or_floor, r.metric)) {
    const auto least = least_at(others, sweep);
    if (!least) continue;
    const double limit = r.factor * *least + r.ns;
    ours.push_back(ns);
    limits.push_back(limit);
    shares.push_back(ns / limit);
  }
  event_bound b{.what = std::string(r.what), .limit = std::string(r.limit)};
  b.sweeps = shares.size();
  b.ns = median_of(ours);
  b.limit_ns = median_of(limits);
  b.share = median_of(shares);
  return b;
}

std::string name_of_floor(const rule& r) {
  return fmt::format("a bare word: {}", r.what.substr(0, r.what.find(',')));
}

const char* verdict_on(const event_bound& b) {
  if (b.sweeps == 0) return "?";
  if (!b.floor_of.empty()) return "floor";
  return b.is_kept() ? "kept" : "missed";
}

placement two_cores(placement where) {
  const bool is_given = where.name != "core";
  if (!is_given && where.cpus.size() > 2)
    where = make_placement(fmt::format("{},{}", where.cpus[0], where.cpus[1]));
  const std::size_t cores = cores_of(where).size();
  if (cores == 2) return where;
  if (!is_given) throw std::runtime_error("--bounds: the bounds are for two cores, here is one");
  throw std::invalid_argument(
      fmt::format("--pin: the bounds are for two cores, and '{}' has {}", where.name, cores));
}

}  // namespace

event_plan bounds_plan(placement where, const run_length& length) {
  event_plan plan;
  plan.contenders = tutti_events();
  for (auto& word : bare_words()) plan.contenders.push_back(std::move(word));
  for (auto& peer : choose(peers_of(operation::event), {"futex:futex", "pthread:pthread_cond"}))
    plan.contenders.push_back(std::move(peer));
  plan.receivers = {1, 2, 8};
  for (const std::string_view each : {awake, asleep})
    plan.scenarios.push_back(parse_scenario(each));
  plan.is_wanted = is_compared;
  plan.where = two_cores(std::move(where));
  plan.length = length;
  return plan;
}

std::vector<event_bound> bounds_of(const event_suite& s) {
  std::vector<event_bound> all;
  for (const rule& r : rules()) all.push_back(measured(s, r, r.ours));
  std::stable_sort(all.begin(), all.end(),
                   [](const event_bound& a, const event_bound& b) { return a.share > b.share; });
  for (const rule& r : rules()) {
    if (!r.floor) continue;
    all.push_back(measured(s, r, *r.floor));
    all.back().floor_of = std::exchange(all.back().what, name_of_floor(r));
  }
  return all;
}

std::string bound_lines(const event_suite& s, const cli::json& machine) {
  std::string text = heading_line(s, machine) + floor_lines(s.floors());
  for (const event_bound& b : bounds_of(s)) {
    const cli::json line{{"type", "bound"},
                         {"benchmark", "event"},
                         {"what", b.what},
                         {"limit", b.limit},
                         {"unit", "ns"},
                         {"median", rounded(b.ns)},
                         {"limit_median", rounded(b.limit_ns)},
                         {"share", rounded(b.share)},
                         {"kept", b.is_kept()},
                         {"floor_of", b.floor_of},
                         {"sweeps", b.sweeps}};
    text += line.dump() + "\n";
  }
  return text;
}

std::string bounds_table(const event_suite& s, const cli::json& machine) {
  std::string text =
      fmt::format("{}\n\n  {:<38} {:>10} {:>10} {:>6}  {:<6}  {}\n", machine_heading(machine), "",
                  "median", "at most", "share", "", "the limit");
  for (const event_bound& b : bounds_of(s))
    text += fmt::format("  {:<38} {:>10} {:>10} {:>6.2f}  {:<6}  {}\n", b.what, format_ns(b.ns),
                        format_ns(b.limit_ns), b.share, verdict_on(b), b.limit);
  text +=
      "\nA row 'floor' is what a bare word takes, which the receivers poll without tutti.\n"
      "Where its share is above 1, receivers that poll could not keep the bound in this run.\n";
  return text + clock_sentence(s) + floors_table(s.floors());
}

}  // namespace tutti::bench
