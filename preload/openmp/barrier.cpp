// SPDX-License-Identifier: Apache-2.0
#include "preload/openmp/barrier.hpp"

#include <utility>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::openmp {

std::uint32_t team_barrier::restart() noexcept {
  // relaxed: the opening of the region publishes it.
  return tickets_of(word.load(relaxed));
}

void team_barrier::note_task(bool is_odd, std::uint32_t all) noexcept {
  atomic<std::uint32_t>& noted = with_tasks[is_odd ? 1 : 0];
  // relaxed: the ticket of the thread that makes the task publishes it, and the fence of push_task
  // puts it before the look for arrivals.
  if (noted.load(relaxed) != all) noted.store(all, relaxed);
}

bool team_barrier::has_made_tasks(bool is_odd, std::uint32_t all) const noexcept {
  // seq_cst: the total order puts it after the caller's ticket or fence, which push_task looks for.
  return with_tasks[is_odd ? 1 : 0].load(seq_cst) == all;
}

void team_barrier::tell_to_look() noexcept {
  // seq_cst: follows what the waiters shall see; the total order puts it before the check for
  // sleepers.
  if ((word.fetch_or(look_again, seq_cst) & look_again) == 0) wait.notify_ordered(word);
}

void team_barrier::clear_look_again() noexcept {
  // acquire: pairs with tell_to_look, so the caller sees what there is to look at.
  word.fetch_and(~look_again, acquire);
}

namespace {

// Waits for the tickets only.
void pass_without_tasks(thread& me, omp_team& team) {
  const std::uint32_t end = me.now.phase + team.size * team_barrier::ticket;
  me.now.phase = end;
  team_barrier& barrier = team.barrier;
  // seq_cst: acquire and release pass all ranks' writes from ticket to ticket; the total order puts
  // the last ticket before the check for sleepers.
  const std::uint32_t before = barrier.word.fetch_add(team_barrier::ticket, seq_cst);
  if (team_barrier::tickets_of(before) + team_barrier::ticket == end)
    return barrier.wait.notify_ordered(barrier.word);
  // acquire: pairs with every ticket of the phase.
  barrier.wait.until(me.barrier_wait, barrier.word, acquire,
                     [end](std::uint32_t now) { return team_barrier::has_passed(now, end); });
}

// After the thread's ticket: runs tasks while it waits for the phase's additional ticket. Returns
// false if it stopped because the region is cancelled.
bool run_tasks_until_end(thread& me, omp_team& team, team_barrier& barrier, std::uint32_t all,
                         bool stops) {
  const std::uint32_t end = all + team_barrier::ticket;
  bool has_waited = false;
  for (;;) {
    // acquire: pairs with every ticket of the phase.
    std::uint32_t now = barrier.word.load(acquire);
    if (team_barrier::has_passed(now, end)) return true;
    const bool was_told = (now & team_barrier::look_again) != 0;
    if (was_told) barrier.clear_look_again();
    // acquire: pairs with the cancelling store.
    if (team.is_cancelled.load(acquire)) {
      // All that wait shall see it.
      if (was_told && &barrier == &team.barrier) barrier.tell_to_look();
      if (stops) return false;
    }
    // seq_cst: puts the arrival, and the end of a task, before the looks at the queues and at the
    // counts; pairs with push_task and with the other ranks' fences.
    platform::fence(seq_cst);
    if (task* const next = take_task(me, team, nullptr)) {
      // A thread that makes many tasks at once wakes one thread, which wakes the next one. It does
      // so even if no thread sleeps: one that polls may have missed the bit that this one cleared.
      if (std::exchange(has_waited, false) && has_tasks_queued(team)) wake_one_for_task(team);
      execute_late(me, *next);
      continue;
    }
    // acquire: see above.
    now = barrier.word.load(acquire);
    if (team_barrier::tickets_of(now) == all && have_all_ended(team)) {
      // relaxed: the last ticket publishes it.
      team.is_workshare_cancelled.store(false, relaxed);
      // seq_cst: see the ticket without tasks. relaxed: a failure is read again.
      if (barrier.word.compare_exchange_strong(now, end | (now & team_barrier::look_again), seq_cst,
                                               relaxed)) {
        barrier.wait.notify_ordered(barrier.word);
        return true;
      }
      continue;
    }
    // acquire: see the first load.
    barrier.wait.until(me.barrier_wait, barrier.word, acquire, [end](std::uint32_t seen) {
      return team_barrier::has_passed(seen, end) || (seen & team_barrier::look_again) != 0;
    });
    has_waited = true;
  }
}

// After the thread's ticket, of which `is_last` says whether it was the phase's last one: waits
// until all have theirs. Returns false as soon as it sees that a task was made in this phase.
bool wait_without_tasks(thread& me, team_barrier& barrier, std::uint32_t all, bool is_last) {
  const bool is_odd = me.now.is_odd_phase;
  for (;;) {
    if (barrier.has_made_tasks(is_odd, all)) return false;
    if (is_last) {
      barrier.wait.notify_ordered(barrier.word);
      return true;
    }
    // acquire: pairs with every ticket of the phase, and with push_task.
    barrier.wait.until(me.barrier_wait, barrier.word, acquire, [all](std::uint32_t now) {
      return team_barrier::has_passed(now, all) || (now & team_barrier::look_again) != 0;
    });
    // acquire: see above.
    if (team_barrier::has_passed(barrier.word.load(acquire), all))
      return !barrier.has_made_tasks(is_odd, all);
    barrier.clear_look_again();
    // seq_cst: a thread that makes a task and finds the bit set tells nobody; it has noted the task
    // before this fence, then.
    platform::fence(seq_cst);
  }
}

// Runs tasks while it waits, if there are any. Returns false if it stopped because the region is
// cancelled.
bool pass_with_tasks(thread& me, omp_team& team, bool stops) {
  team_barrier& barrier = team.barrier;
  const std::uint32_t all = me.now.phase + team.size * team_barrier::ticket;
  // seq_cst: as above.
  const std::uint32_t before = barrier.word.fetch_add(team_barrier::ticket, seq_cst);
  const bool is_last = team_barrier::tickets_of(before) + team_barrier::ticket == all;
  std::uint32_t end = all;
  bool has_passed = true;
  if (global().can_cancel || !wait_without_tasks(me, barrier, all, is_last)) {
    end += team_barrier::ticket;
    has_passed = run_tasks_until_end(me, team, barrier, all, stops);
  }
  // Until here, tasks that the thread has run may have made others in this phase.
  me.now.phase = end;
  me.now.is_odd_phase = !me.now.is_odd_phase;
  return has_passed;
}

// Waits for the ranks of a cancelled region, which come from different phases.
void pass_after_cancellation(thread& me, omp_team& team) {
  team_barrier& barrier = team.after_cancellation;
  // seq_cst: as above.
  barrier.word.fetch_add(team_barrier::ticket, seq_cst);
  run_tasks_until_end(me, team, barrier,
                      team.phase_after_cancellation + team.size * team_barrier::ticket, false);
}

bool pass(thread& me, omp_team& team, bool can_be_cancelled) {
  if (!team.has_tasks) {
    if (team.size > 1) pass_without_tasks(me, team);
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
  pass_after_cancellation(me, team);
}

void wake_barriers(omp_team& team) {
  team.barrier.tell_to_look();
  // A cancelled region ends at the other barrier.
  if (global().can_cancel) team.after_cancellation.tell_to_look();
}

void wake_one_for_task(omp_team& team) {
  // relaxed: notify_one orders it.
  team.barrier.word.fetch_or(team_barrier::look_again, relaxed);
  team.barrier.wait.notify_one(team.barrier.word);
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
