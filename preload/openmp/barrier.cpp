// SPDX-License-Identifier: Apache-2.0
#include "preload/openmp/barrier.hpp"

#include "preload/openmp/abi.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::openmp {

namespace {

// The tasks of a team, for a thread that waits at one of its barriers.
class team_tasks {
 public:
  team_tasks(thread& me, omp_team& team, bool can_stop, bool is_at_end)
      : me_(me), team_(team), can_stop_(can_stop), is_at_end_(is_at_end) {}

  task* take() { return take_task(me_, team_, nullptr); }
  void run(task& t) { execute_late(me_, t); }
  bool are_queued() const { return has_tasks_queued(team_); }
  bool have_all_ended() const { return openmp::have_all_ended(team_); }
  bool stops(bool was_told) {
    // acquire: pairs with the cancelling store.
    if (!team_.is_cancelled.load(acquire)) return false;
    // All that wait shall see it.
    if (was_told && !is_at_end_) team_.barrier.tell_to_look();
    return can_stop_;
  }

 private:
  thread& me_;
  omp_team& team_;
  const bool can_stop_;
  // Whether the barrier is the one after a cancellation.
  const bool is_at_end_;
};

// The phase has ended, so no thread asks any more whether its construct was cancelled.
void forget_cancelled(omp_team& team, std::uint32_t begin) {
  std::uint32_t cancelled = begin + 1;
  // relaxed: the number concerns only the phase that has ended, and a later one stays.
  if (team.cancelled_phase.load(relaxed) == cancelled)
    team.cancelled_phase.compare_exchange_strong(cancelled, 0u, relaxed, relaxed);
}

// Returns false if the thread stopped because the region is cancelled.
bool pass_with_tasks(thread& me, omp_team& team, bool can_stop) {
  team_tasks tasks(me, team, can_stop, false);
  if (global().can_cancel) {
    const std::uint32_t begin = me.now.phase.begin;
    const bool passed = team.barrier.pass_or_stop(me.barrier_wait, me.now.phase, team.size, tasks);
    // The number of the phase comes back after millions of barriers.
    if (passed && me.now.rank == 0) forget_cancelled(team, begin);
    return passed;
  }
  team.barrier.pass(me.barrier_wait, me.now.phase, team.size, tasks);
  return true;
}

bool pass(thread& me, omp_team& team, bool can_be_cancelled) {
  if (!team.has_tasks) {
    if (team.size >= team_barrier::least_size_of_groups && !team.is_crowded)
      team.barrier.pass_by_groups(me.barrier_wait, me.now.phase, me.now.rank, team.size);
    else if (team.size > 1)
      team.barrier.pass(me.barrier_wait, me.now.phase, team.size);
    return false;
  }
  const bool passed = pass_with_tasks(me, team, can_be_cancelled || team.is_cancelled);
  // acquire: pairs with the cancelling store.
  return !passed || (can_be_cancelled && team.is_cancelled.load(acquire));
}

}  // namespace

bool wait_at_barrier(thread& me, bool can_be_cancelled) {
  omp_team& team = *me.now.team;
  if (!is_reproducible()) return pass(me, team, can_be_cancelled);
  pass_order_at_barrier(me);
  pass_baton_at_barrier(me);
  const bool is_cancelled = pass(me, team, can_be_cancelled);
  wait_for_baton(me);
  return is_cancelled;
}

void wait_at_end_without_tasks(thread& me) { pass(me, *me.now.team, false); }

void wait_at_end_with_tasks(thread& me) {
  omp_team& team = *me.now.team;
  // acquire: pairs with the cancelling store.
  if (!team.is_cancelled.load(acquire) && pass_with_tasks(me, team, true)) return;
  // The ranks come from different phases.
  team_barrier::phase phase{team.phase_after_cancellation, false};
  team_tasks tasks(me, team, false, true);
  team.after_cancellation.pass_or_stop(me.barrier_wait, phase, team.size, tasks);
  // Clang's programs leave a cancelled region without the ends of their constructs.
  discard_reductions(me);
  if (me.now.rank == 0) discard_doacross(team);
}

void wake_barriers(omp_team& team) {
  team.barrier.tell_to_look();
  // A cancelled region ends at the other barrier.
  if (global().can_cancel) team.after_cancellation.tell_to_look();
}

void sleep_until_woken(thread& me, std::uint32_t seen) {
  // acquire: pairs with wake.
  me.wake_sleep.until(me.wake_wait, me.wake_word, acquire,
                      [seen](std::uint32_t now) { return now != seen; });
}

void wake(thread& waiter) noexcept {
  // seq_cst: publishes what has happened; the total order puts it before the check for sleepers.
  waiter.wake_word.fetch_add(1, seq_cst);
  waiter.wake_sleep.notify_ordered(waiter.wake_word);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

TUTTI_OMP void GOMP_barrier() {
  thread& me = self();
  ompt::in_sync_region(me, ompt_sync_region_barrier_explicit, TUTTI_OMPT_CALL_SITE,
                       [&me] { return wait_at_barrier(me, false); });
}
TUTTI_OMP bool GOMP_barrier_cancel() {
  thread& me = self();
  return ompt::in_sync_region(me, ompt_sync_region_barrier_explicit, TUTTI_OMPT_CALL_SITE,
                              [&me] { return wait_at_barrier(me, true); });
}
