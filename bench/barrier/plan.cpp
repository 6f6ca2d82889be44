// SPDX-License-Identifier: Apache-2.0
// Names of metrics, and which of them suit a scenario.
#include "bench/barrier/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tutti::bench {

std::string_view name_of(metric m) {
  switch (m) {
    case metric::loop: return "loop";
    case metric::last_in_last_out: return "last_in_last_out";
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

std::vector<metric> metrics_of(const barrier_plan& plan, const scenario& s) {
  std::vector<metric> suitable{metric::loop, metric::last_in_last_out};
  if (s.disturbed() && plan.metrics.empty()) suitable = {metric::loop};
  if (s.skew_ns > 0) suitable = {metric::last_in_last_out};
  if (s.delayed()) suitable = {metric::last_in_last_out, metric::cpu_time};
  // What a lost slice costs shows in the whole.
  if (s.delayed() && (s.disturbed() || s.most_work_ns > 0)) suitable.push_back(metric::episode);
  if (s.phases != phase_kind::none) suitable = {metric::recover};
  if (plan.metrics.empty()) return suitable;
  std::erase_if(suitable, [&](metric m) {
    return std::find(plan.metrics.begin(), plan.metrics.end(), m) == plan.metrics.end();
  });
  return suitable;
}

}  // namespace tutti::bench
