// SPDX-License-Identifier: Apache-2.0
// A peer that is added as docs/HACKING.md says: one file, which says what it can do.
#include <barrier>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/partial_sums.hpp"
#include "bench/contenders/pool.hpp"
#include "bench/trials/barrier_trial.hpp"

namespace tutti::bench {

std::vector<contender> peer_dummy() {
  return {{.name = "everything",
           .summary = "a barrier, a pool, sums, episodes",
           .barrier = make_timed<std::barrier<>>,
           .regions = make_pool<two_barriers<std::barrier<>>>,
           .collectives = make_partial_sums<std::barrier<>>,
           .trials = [](rank_t n) { return barrier_trials<std::barrier<>>(n, "dummy"); }}};
}

}  // namespace tutti::bench
