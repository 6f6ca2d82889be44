// SPDX-License-Identifier: Apache-2.0
// What a run of `tutti bench team` or `tutti bench reduce` measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/crew/providers.hpp"
#include "bench/crew/round.hpp"
#include "bench/harness/placement.hpp"
#include "bench/harness/scenario.hpp"
#include "bench/harness/sweeps.hpp"

namespace tutti::bench {

// Kernel threads, and ranks on them: more ranks than threads are fibers, which only tutti has.
struct crew_shape {
  rank_t threads = 2;
  rank_t ranks = 2;
};

// loop: regions, or episodes inside one, back to back. latency: of each, after serial code of rank
// 0. cpu_time: the processor time an episode of each other thread meanwhile.
enum class crew_metric { loop, latency, cpu_time };

std::string_view name_of(crew_metric m);

struct crew_plan {
  std::string benchmark;  // region, reduce: what the lines of --json are called
  std::vector<crew_provider> providers;
  std::vector<episode_kind> kinds;
  std::vector<crew_shape> shapes;
  std::vector<placement> placements;
  std::vector<scenario> scenarios;  // without skew, imbalance, work and phases
  run_length length;
};

// The sizes of loops unless told otherwise.
inline constexpr std::uint64_t elements_of_loops[] = {1000, 10'000, 100'000, 1'000'000};

// empty, reduce2; of fibers the barrier inside a region too.
std::vector<episode_kind> kinds_of_regions();
// barrier, reduce1, reduce2, ...
std::vector<episode_kind> kinds_of_reductions();

// Whether a provider can do this at all.
bool suits(const crew_provider& who, const episode_kind& kind, const crew_shape& shape);
// The same in this scenario: fibers that meet inside a region share the thread that a gap would
// keep busy.
bool suits(const crew_provider& who, const episode_kind& kind, const crew_shape& shape,
           const scenario& when);

}  // namespace tutti::bench
