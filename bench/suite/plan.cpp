// SPDX-License-Identifier: Apache-2.0
// Names of metrics, and what suits a scenario, a kind of episode, a contender.
#include "bench/suite/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/harness/runtime_round.hpp"

namespace tutti::bench {

std::string_view name_of(metric m) {
  switch (m) {
    case metric::loop: return "loop";
    case metric::last_in_last_out: return "last_in_last_out";
    case metric::latency: return "latency";
    case metric::cpu_time: return "cpu_time";
    case metric::episode: return "episode";
    case metric::recover: return "recover";
  }
  return "";
}

metric parse_metric(std::string_view text) {
  for (const metric m : {metric::loop, metric::last_in_last_out, metric::cpu_time, metric::episode,
                         metric::recover}) {
    if (text == name_of(m)) return m;
  }
  throw std::invalid_argument(fmt::format(
      "there is no metric '{}': use loop, last_in_last_out, cpu_time, episode or recover", text));
}

std::vector<episode_kind> kinds_of_regions() {
  return {{operation::region, 0}, {operation::region, width_of_reducing_regions}};
}

std::vector<episode_kind> kinds_of_reductions() {
  std::vector<episode_kind> kinds{{operation::collective, 0}};
  for (const unsigned width : widths_of_reductions) kinds.push_back({operation::collective, width});
  return kinds;
}

std::vector<metric> metrics_of(const plan& p, const episode_kind& kind, const scenario& s,
                               bool crowded) {
  if (kind.what != operation::barrier) {
    if (s.gap.ns > 0) return {metric::latency, metric::cpu_time};
    return {metric::loop};
  }
  std::vector<metric> suitable{metric::loop, metric::last_in_last_out};
  if (s.disturbed() && p.metrics.empty()) suitable = {metric::loop};
  if (s.skew_ns > 0) suitable = {metric::last_in_last_out};
  if (s.delayed()) suitable = {metric::last_in_last_out, metric::cpu_time};
  // What a lost slice costs shows in the whole. If threads share a core, the last one may leave
  // late because another one works there, which delays nobody.
  if (s.delayed() && (s.disturbed() || s.most_work_ns > 0 || crowded || !p.metrics.empty()))
    suitable.push_back(metric::episode);
  if (s.phases != phase_kind::none) suitable = {metric::recover};
  if (p.metrics.empty()) return suitable;
  std::erase_if(suitable, [&](metric m) {
    return std::find(p.metrics.begin(), p.metrics.end(), m) == p.metrics.end();
  });
  return suitable;
}

pattern pattern_of(metric m, const episode_kind& kind, const scenario& s) {
  if (kind.what != operation::barrier) return s.gap.ns > 0 ? pattern::after_gap : pattern::loop;
  if (m == metric::recover) return pattern::phases;
  return m == metric::loop ? pattern::loop : pattern::delayed;
}

bool suits(const contender& who, const episode_kind& kind, const shape& size,
           const scenario& when) {
  if (size.has_fibers() && !who.has_fibers) return false;
  if (who.process.for_each_rank() && size.threads < 2) return false;
  if (when.gap.ns > 0 && kind.what == operation::collective && size.has_fibers()) return false;
  if (kind.elements > 0 && size.has_fibers()) return false;
  if (kind.elements == 0 && who.only_loops) return false;
  return kind.width <= who.widest && who.does(kind.what);
}

}  // namespace tutti::bench
