// SPDX-License-Identifier: Apache-2.0
// What a run of `tutti bench barrier` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/barrier/providers.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/round.hpp"
#include "bench/harness/scenario.hpp"
#include "bench/harness/sweeps.hpp"

namespace tutti::bench {

// episode: from episode to episode, lateness and work included. recover: until the calm is back.
enum class metric { loop, last_in_last_out, cpu_time, episode, recover };

std::string_view name_of(metric m);
metric parse_metric(std::string_view text);  // throws std::invalid_argument

struct barrier_plan {
  std::vector<provider> providers;
  std::vector<rank_t> threads;
  std::vector<placement> placements;
  std::vector<scenario> scenarios;
  std::vector<metric> metrics;  // empty: what suits each scenario
  run_length length;
};

// The metrics of one scenario that the plan asks for.
std::vector<metric> metrics_of(const barrier_plan& plan, const scenario& s);

}  // namespace tutti::bench
