// SPDX-License-Identifier: Apache-2.0
// What makes two runs with the same number of threads compute the same (`tutti run
// --reproducible`). Loops and sections are distributed by rank alone, rank 0 runs each `single`
// until it leaves a cancelled region, and tasks run when they are made. (A team of one thread may
// queue some, as it always does.)
//
// *Order of combination.* Ranks pass critical regions, GOMP_atomic_start, and the reductions of
// clang's interface, in turns: first each rank's first one since the last barrier, in the order of
// the ranks, then each rank's second one, and so on. A rank that has come to the barrier, or ended
// its part, counts as passed. What a rank does in a critical region belongs to its turn. No rank
// waits here for one that may wait for it:
// - A rank that holds a lock does not wait for its turn. So a rank that waits for a lock never
//   waits for one that waits for its turn.
// - A rank is *away* while it waits in an ordered region, for an iteration of a doacross loop or
// for
//   tasks. Nobody waits for the turn of a rank that is away, or for any turn while a rank is away
//   that holds a lock.
// - *Late tasks*, which a rank runs while it waits, have no turns.
// In the first two cases a line on standard error says that the order may differ between runs.
//
// *One after the other.* GCC compiles a reduction of one floating-point variable to a loop with
// compare-and-swap, which no runtime can order. In a region whose code has such a loop only one
// rank runs at a time: it hands over to the next one when it comes to a barrier or has to wait.
#pragma once

#include <type_traits>

#include "preload/openmp/locks.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"

namespace tutti::openmp {

// Reads the code of the objects that have OpenMP, and names each function with such a loop. The
// caller holds the lock of takeover.hpp.
void read_code();
// Whether the ranks of a region with this function run one after the other.
bool runs_serially(region_function function);
// Tells open_region() so, for the region that opens next.
void note_serial(thread& me, region_function function);

// ---- the order of combination

void begin_in_order(thread& me);
void end_in_order(thread& me);
void begin_critical_in_order(thread& me);
void end_critical_in_order(thread& me);
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

// ---- waits that neither order may wait for

void begin_absence(thread& me);
void end_absence(thread& me);

// The calling rank is away until the end of the scope.
class absence {
 public:
  absence(thread& me, bool is_away) : me_(me), is_away_(is_away) {
    if (is_away_) begin_absence(me_);
  }
  // Unless `is_ready`. If ranks run one after the other, others run until then.
  template <class IsReady>
  requires(!std::is_same_v<IsReady, bool>) absence(thread& me, IsReady is_ready) : me_(me) {
    if (!is_reproducible()) return;
    let_others_run_until(me, is_ready);
    is_away_ = !is_ready();
    if (is_away_) begin_absence(me_);
  }
  ~absence() {
    if (is_away_) end_absence(me_);
  }
  absence(const absence&) = delete;
  absence& operator=(const absence&) = delete;

 private:
  thread& me_;
  bool is_away_ = false;
};

// Runs a task that did not run when it was made.
inline void execute_late(thread& me, task& t) {
  ++me.now.late_tasks;
  execute(me, t);
  --me.now.late_tasks;
}

// ---- locks of the program

inline void lock_in_turn(small_lock& lock) {
  if (!is_reproducible()) return lock.lock();
  thread& me = self();
  if (me.now.team->is_serial)
    let_others_run_until(me, [&lock] { return lock.try_lock(); });
  else
    lock.lock();
  ++me.now.locks;
}
inline bool try_lock_in_turn(small_lock& lock) {
  const bool is_mine = lock.try_lock();
  if (is_mine && is_reproducible()) ++self().now.locks;
  return is_mine;
}
inline void unlock_in_turn(small_lock& lock) {
  lock.unlock();
  if (!is_reproducible()) return;
  context& now = self().now;
  // The lock may have been set outside of the region.
  if (now.locks != 0) --now.locks;
}

}  // namespace tutti::openmp
