// SPDX-License-Identifier: Apache-2.0
// What makes two runs with the same number of threads compute the same (`tutti run
// --reproducible`). Loops and sections are distributed by rank alone, rank 0 runs each `single`, and
// tasks run when they are made.
//
// *Order of combination.* Ranks pass GOMP_atomic_start, and the reductions of clang's interface, in
// turns: first each rank's first one since the last barrier, in the order of the ranks, then each
// rank's second one, and so on. A rank that has come to the barrier, or ended its part, counts as
// passed.
//
// *One after the other.* GCC compiles a reduction of one floating-point variable to a loop with
// compare-and-swap, which no runtime can order. In a region whose code has such a loop only one rank
// runs at a time: it hands over to the next one when it comes to a barrier or has to wait.
#pragma once

#include "preload/openmp/core.hpp"

namespace tutti::openmp {

// Reads the code of the objects that have OpenMP, and names each function with such a loop.
void read_code();
// Whether the ranks of a region with this function run one after the other.
bool runs_serially(region_function function);

// ---- the order of combination

void begin_in_order(thread& me);
void end_in_order(thread& me);
void pass_order_at_barrier(thread& me);
void pass_order_at_end(thread& me);

// ---- one rank at a time

void wait_for_baton(thread& me);
// Lets the next rank run that has not come to the barrier.
void pass_baton_at_barrier(thread& me);
void pass_baton_at_end(thread& me);
void pass_baton(thread& me);
// Lets other ranks run until `is_ready`. Returns at once if ranks do not run one after the other.
template <class IsReady>
void let_others_run_until(thread& me, IsReady is_ready) {
  if (!me.now.team->is_serial) return;
  while (!is_ready()) {
    pass_baton(me);
    wait_for_baton(me);
  }
}

// Locks as the ranks of such a region do.
inline void lock_in_turn(small_lock& lock) {
  if (!is_reproducible()) return lock.lock();
  thread& me = self();
  if (!me.now.team->is_serial) return lock.lock();
  let_others_run_until(me, [&lock] { return lock.try_lock(); });
}

}  // namespace tutti::openmp
