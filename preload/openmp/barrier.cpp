// SPDX-License-Identifier: Apache-2.0
#include "preload/openmp/barrier.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

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
  team_tasks(thread& me, omp_team& team, bool is_at_end)
      : me_(me), team_(team), is_at_end_(is_at_end) {}

  task* take() { return take_task(me_, team_, nullptr); }
  void run(task& t) { execute_late(me_, t); }
  bool are_queued() const { return has_tasks_queued(team_); }
  bool have_all_ended() const { return openmp::have_all_ended(team_); }
  bool stops(bool was_told) {
    // acquire: pairs with the cancelling store.
    if (is_at_end_ || !team_.is_cancelled.load(acquire)) return false;
    // All that wait shall see it.
    if (was_told) team_.barrier.tell_to_look();
    return true;
  }

 private:
  thread& me_;
  omp_team& team_;
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

// Returns false if the thread does not wait because the region is cancelled.
bool pass_with_tasks(thread& me, omp_team& team) {
  team_tasks tasks(me, team, false);
  if (global().can_cancel) {
    const std::uint32_t begin = me.now.phase.begin;
    const team_barrier::phase next = team_barrier::after(me.now.phase, team.size);
    // release: publishes what the rank has done; pairs with have_come.
    team.slots[me.now.rank]->next_phase.store(next.begin, release);
    // A rank that knows of the cancellation draws no further tickets, so those of a barrier where
    // another rank waits are never complete by mistake.
    // acquire: pairs with the cancelling store.
    if (team.is_cancelled.load(acquire)) {
      me.now.phase = next;
      return false;
    }
    const bool passed = team.barrier.pass_or_stop(me.barrier_wait, me.now.phase, team.size, tasks);
    // The number of the phase comes back after millions of barriers.
    if (passed && me.now.rank == 0) forget_cancelled(team, begin);
    return passed;
  }
  team.barrier.pass(me.barrier_wait, me.now.phase, team.size, tasks);
  return true;
}

// Whether each rank of a cancelled region has come to the barrier before the phase, or has gone on
// to the region's end.
bool have_come(const omp_team& team, std::uint32_t phase) {
  return std::all_of(
      team.slots.begin(), team.slots.begin() + team.size, [phase](const rank_slot* slot) {
        // acquire: pairs with wait_at_end_with_tasks.
        if (slot->has_left.load(acquire)) return true;
        // acquire: pairs with pass_with_tasks.
        return static_cast<std::int32_t>(slot->next_phase.load(acquire) - phase) >= 0;
      });
}

// The barrier of a cancelled region at which the program does not ask whether it is cancelled, in a
// function that the region calls: the program goes on as after any barrier, so all ranks that have
// not left the region have to come. (With libgomp and LLVM's runtime the barrier also waits for
// those that have left, so it has no end.) The rank polls, since such barriers are rare.
void wait_for_those_inside(thread& me, omp_team& team) {
  constexpr unsigned many_polls = 100, pause_us = 50;
  for (unsigned polls = 0; !have_come(team, me.now.phase.begin) || !have_all_ended(team);) {
    if (task* const t = take_task(me, team, nullptr))
      execute_late(me, *t);
    else if (++polls < many_polls)
      native::yield();
    else
      usleep(pause_us);
  }
}

bool pass(thread& me, omp_team& team, bool can_be_cancelled) {
  if (!team.has_tasks) {
    if (team.size >= team_barrier::least_size_of_groups && !team.is_crowded)
      team.barrier.pass_by_groups(me.barrier_wait, me.now.phase, me.now.rank, team.size);
    else if (team.size > 1)
      team.barrier.pass(me.barrier_wait, me.now.phase, team.size);
    return false;
  }
  const bool stops = !std::exchange(me.is_copied_from, false) && can_be_cancelled;
  if (!pass_with_tasks(me, team)) {
    if (!stops) wait_for_those_inside(me, team);
    return true;
  }
  // acquire: pairs with the cancelling store.
  return can_be_cancelled && team.is_cancelled.load(acquire);
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
  if (pass_with_tasks(me, team)) return;
  rank_slot& mine = *team.slots[me.now.rank];
  // release: publishes what the rank has done; pairs with have_come.
  mine.has_left.store(true, release);
  // The ranks come from different phases.
  team_barrier::phase phase{team.phase_after_cancellation, false};
  team_tasks tasks(me, team, true);
  team.after_cancellation.pass_or_stop(me.barrier_wait, phase, team.size, tasks);
  // The next region begins at the tickets that have been drawn.
  // relaxed: no rank waits for another one any more, and the opening of a region publishes them.
  mine.next_phase.store(team.barrier.restart(), relaxed);
  mine.has_left.store(false, relaxed);
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
