// SPDX-License-Identifier: Apache-2.0
// Rounds as JSON, for the peers that live in a process of their own.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/harness/round.hpp"

namespace tutti::bench {

NLOHMANN_JSON_SERIALIZE_ENUM(pattern, {{pattern::loop, "loop"},
                                       {pattern::delayed, "delayed"},
                                       {pattern::phases, "phases"},
                                       {pattern::after_gap, "after_gap"}})
NLOHMANN_JSON_SERIALIZE_ENUM(operation, {{operation::barrier, "barrier"},
                                         {operation::region, "region"},
                                         {operation::collective, "collective"}})
NLOHMANN_JSON_SERIALIZE_ENUM(course_kind, {{course_kind::constant, "constant"},
                                           {course_kind::uniform, "uniform"},
                                           {course_kind::alternating, "alternating"}})
NLOHMANN_JSON_SERIALIZE_ENUM(phase_kind, {{phase_kind::none, "none"},
                                          {phase_kind::neighbours, "neighbours"},
                                          {phase_kind::long_waits, "long_waits"},
                                          {phase_kind::short_waits, "short_waits"}})

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(course, ns, kind)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(episode_kind, what, width, elements)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(neighbour_plan, cpus, each, light, own_session, outside)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(round_request, what, kind, threads, ranks, cpus, episodes,
                                   warm_up, batches, least_ns, chunk, own_cores, with_floor,
                                   skew_ns, late, rotating, gap, least_work_ns, most_work_ns,
                                   phases, seed, neighbours, offsets)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(round_outcome, samples, mean, episodes, duration_ns,
                                   start_spread_ns, waiter_cpu_ns, cpus_used, episode_ns,
                                   recover_ns, watched_ns, floor_before, floor_after,
                                   neighbours_ran, fault)

}  // namespace tutti::bench
