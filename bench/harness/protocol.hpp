// SPDX-License-Identifier: Apache-2.0
// Rounds as JSON, for the peers that live in a process of their own.
#pragma once

#include <array>
#include <string_view>

#include "bench/harness/round.hpp"
#include "cli/json.hpp"
#include "cli/json_fields.hpp"

namespace tutti::bench {

constexpr std::array<std::string_view, 4> json_names(pattern) {
  return {"loop", "delayed", "phases", "after_gap"};
}
constexpr std::array<std::string_view, 3> json_names(operation) {
  return {"barrier", "region", "collective"};
}
constexpr std::array<std::string_view, 3> json_names(course_kind) {
  return {"constant", "uniform", "alternating"};
}
constexpr std::array<std::string_view, 4> json_names(phase_kind) {
  return {"none", "neighbours", "long_waits", "short_waits"};
}

TUTTI_JSON_FIELDS(course, ns, kind)

TUTTI_JSON_FIELDS(episode_kind, what, width, elements)

TUTTI_JSON_FIELDS(neighbour_plan, cpus, each, light, own_session, outside)

TUTTI_JSON_FIELDS(round_request, what, kind, threads, ranks, cpus, episodes, warm_up, settling,
                  batches, least_ns, chunk, own_cores, with_floor, skew_ns, late, rotating, gap,
                  least_work_ns, most_work_ns, phases, seed, neighbours, offsets)

TUTTI_JSON_FIELDS(round_outcome, samples, mean, episodes, duration_ns, start_spread_ns,
                  waiter_cpu_ns, cpus_used, episode_ns, recover_ns, watched_ns, floor_before,
                  floor_after, neighbours_ran, fault)

}  // namespace tutti::bench
