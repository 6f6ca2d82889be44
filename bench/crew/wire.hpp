// SPDX-License-Identifier: Apache-2.0
// Rounds of crews as JSON, for the peers that live in a process of their own.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/crew/round.hpp"
#include "bench/harness/wire.hpp"

namespace tutti::bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(episode_kind, inside, width, elements)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(crew_size, threads, ranks, cpus)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(crew_request, kind, size, episodes, warm_up, batches, least_ns,
                                   chunk, gap, seed)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(crew_outcome, samples, episodes, duration_ns, worker_cpu_ns,
                                   fault)

}  // namespace tutti::bench
