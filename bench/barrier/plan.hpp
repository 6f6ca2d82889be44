// SPDX-License-Identifier: Apache-2.0
// What a run of `tutti bench barrier` measures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "barrier/providers.hpp"
#include "harness/placement.hpp"
#include "harness/round.hpp"

namespace tutti::bench {

enum class neighbour_kind { none, one, all };

struct scenario {
  std::string name;
  double skew_ns = 0;  // ranks are late by up to this, at random
  double late_ns = 0;  // the last rank is late by this, always
  neighbour_kind busy = neighbour_kind::none;
};

// Throws std::invalid_argument for a text that is none of free, skew_TIME, imbalance_TIME, neighbour_one,
// neighbour_all; TIME is a number with ns, us or ms.
scenario parse_scenario(std::string_view text);

enum class metric { loop, last_in_last_out, cpu_time };

std::string_view name_of(metric m);
metric parse_metric(std::string_view text);  // throws std::invalid_argument

struct barrier_plan {
  std::vector<provider> providers;
  std::vector<rank_t> threads;
  std::vector<placement> placements;
  std::vector<scenario> scenarios;
  std::vector<metric> metrics;  // empty: what suits each scenario
  std::uint64_t rounds = 0;     // sweeps; 0: as many as the time allows
  double seconds = 15;          // not a bound when rounds are given
  std::uint64_t seed = 1;
};

// The metrics of one scenario that the plan asks for.
std::vector<metric> metrics_of(const barrier_plan& plan, const scenario& s);

}  // namespace tutti::bench
