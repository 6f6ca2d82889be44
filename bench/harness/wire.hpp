// SPDX-License-Identifier: Apache-2.0
// Rounds as JSON, for the peers that live in a process of their own.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/round.hpp"

namespace tutti::bench {

NLOHMANN_JSON_SERIALIZE_ENUM(pattern, {{pattern::loop, "loop"}, {pattern::delayed, "delayed"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(round_request, kind, threads, cpus, episodes, warm_up, batches,
                                   least_ns, chunk, own_cores, with_floor, skew_ns, late_ns, seed,
                                   neighbours, offsets)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(round_outcome, samples, mean, episodes, duration_ns,
                                   start_spread_ns, waiter_cpu_ns, floor_before, floor_after,
                                   neighbours_ran)

}  // namespace tutti::bench
