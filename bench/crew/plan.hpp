// SPDX-License-Identifier: Apache-2.0
// What a run of `tutti bench team` or `tutti bench reduce` measures.
#pragma once

#include <string>
#include <vector>

#include "crew/providers.hpp"
#include "crew/round.hpp"
#include "harness/placement.hpp"
#include "harness/scenario.hpp"
#include "harness/sweeps.hpp"

namespace tutti::bench {

// Kernel threads, and ranks on them: more ranks than threads are fibers, which only tutti has.
struct crew_shape {
  rank_t threads = 2;
  rank_t ranks = 2;
};

struct crew_plan {
  std::string benchmark;  // region, reduce: what the lines of --json are called
  std::vector<crew_provider> providers;
  std::vector<episode_kind> kinds;
  std::vector<crew_shape> shapes;
  std::vector<placement> placements;
  std::vector<scenario> scenarios;  // without skew and imbalance
  run_length length;
};

// empty, reduce2; of fibers the barrier inside a region too.
std::vector<episode_kind> kinds_of_regions();
// barrier, reduce1, reduce2, ...
std::vector<episode_kind> kinds_of_reductions();

// Whether a provider can do this at all.
bool suits(const crew_provider& who, const episode_kind& kind, const crew_shape& shape);

}  // namespace tutti::bench
