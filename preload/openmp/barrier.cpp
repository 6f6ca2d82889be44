// SPDX-License-Identifier: Apache-2.0
// Barriers of a crew, with and without tasks. core.hpp describes the gate.
#include "preload/openmp/abi.hpp"
#include "preload/openmp/reproducible.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::openmp {

std::uint32_t gate::restart() noexcept {
  // relaxed: the opening of the region publishes it.
  const std::uint32_t drawn = tickets_of(word.load(relaxed));
  return drawn;
}

void gate::ring() noexcept {
  // seq_cst: follows what the waiters shall see; the total order puts it before the check for
  // sleepers.
  if ((word.fetch_or(bell, seq_cst) & bell) == 0) wait.notify_ordered(word);
}

void gate::silence() noexcept {
  // acquire: pairs with ring, so the caller sees what the bell was rung for.
  word.fetch_and(~bell, acquire);
}

namespace {

// Waits for the tickets only.
void pass_without_tasks(thread& me, crew& team) {
  const std::uint32_t end = me.now.phase + team.size * gate::ticket;
  me.now.phase = end;
  gate& g = team.meeting;
  // seq_cst: acquire and release pass all ranks' writes from ticket to ticket; the total order puts
  // the last ticket before the check for sleepers.
  const std::uint32_t before = g.word.fetch_add(gate::ticket, seq_cst);
  if (gate::tickets_of(before) + gate::ticket == end) return g.wait.notify_ordered(g.word);
  // acquire: pairs with every ticket of the phase.
  g.wait.until(me.gate_wait, g.word, acquire,
               [end](std::uint32_t now) { return gate::has_passed(now, end); });
}

// Runs tasks while it waits. Returns false if it stopped because the region is cancelled.
bool pass_with_tasks(thread& me, crew& team, gate& g, std::uint32_t& phase, bool stops) {
  const std::uint32_t all = phase + team.size * gate::ticket, end = all + gate::ticket;
  phase = end;
  // seq_cst: as above.
  g.word.fetch_add(gate::ticket, seq_cst);
  for (;;) {
    // acquire: pairs with every ticket of the phase.
    std::uint32_t now = g.word.load(acquire);
    if (gate::has_passed(now, end)) return true;
    const bool was_rung = (now & gate::bell) != 0;
    if (was_rung) g.silence();
    // acquire: pairs with the cancelling store.
    if (team.is_cancelled.load(acquire)) {
      // All that wait shall see it.
      if (was_rung && &g == &team.meeting) g.ring();
      if (stops) return false;
    }
    // seq_cst: puts the arrival, and the end of a task, before the looks at the queues and at the
    // counts; pairs with push_task and with the other ranks' fences.
    platform::fence(seq_cst);
    if (task* const next = take_task(me, team, nullptr)) {
      execute_late(me, *next);
      continue;
    }
    // acquire: see above.
    now = g.word.load(acquire);
    if (gate::tickets_of(now) == all && has_no_tasks(team)) {
      // relaxed: the last ticket publishes it.
      team.is_share_cancelled.store(false, relaxed);
      // seq_cst: see the ticket without tasks. relaxed: a failure is read again.
      if (g.word.compare_exchange_strong(now, end | (now & gate::bell), seq_cst, relaxed)) {
        g.wait.notify_ordered(g.word);
        return true;
      }
      continue;
    }
    // acquire: see the first load.
    g.wait.until(me.gate_wait, g.word, acquire, [end](std::uint32_t seen) {
      return gate::has_passed(seen, end) || (seen & gate::bell) != 0;
    });
  }
}

bool pass(thread& me, crew& team, bool can_be_cancelled) {
  if (!team.has_tasks) {
    if (team.size > 1) pass_without_tasks(me, team);
    return false;
  }
  const bool passed =
      pass_with_tasks(me, team, team.meeting, me.now.phase, can_be_cancelled || team.is_cancelled);
  // acquire: pairs with the cancelling store.
  return !passed || (can_be_cancelled && team.is_cancelled.load(acquire));
}

}  // namespace

bool meet(thread& me, bool can_be_cancelled) {
  crew& team = *me.now.team;
  if (!is_reproducible()) return pass(me, team, can_be_cancelled);
  pass_order_at_barrier(me);
  pass_baton_at_barrier(me);
  const bool is_cancelled = pass(me, team, can_be_cancelled);
  wait_for_baton(me);
  return is_cancelled;
}

void meet_after_part(thread& me) { pass(me, *me.now.team, false); }

void meet_at_end(thread& me) {
  crew& team = *me.now.team;
  // acquire: pairs with the cancelling store.
  if (!team.is_cancelled.load(acquire) &&
      pass_with_tasks(me, team, team.meeting, me.now.phase, true))
    return;
  std::uint32_t phase = team.phase_after_cancellation;
  pass_with_tasks(me, team, team.after_cancellation, phase, false);
}

void ring_gates(crew& team) {
  team.meeting.ring();
  // A cancelled region ends at the other gate.
  if (global().can_cancel) team.after_cancellation.ring();
}

void wait_for_bell(thread& me, std::uint32_t seen) {
  // acquire: pairs with ring.
  me.bell_sleep.until(me.bell_wait, me.bell, acquire,
                      [seen](std::uint32_t now) { return now != seen; });
}

void ring(thread& waiter) noexcept {
  // seq_cst: publishes what has happened; the total order puts it before the check for sleepers.
  waiter.bell.fetch_add(1, seq_cst);
  waiter.bell_sleep.notify_ordered(waiter.bell);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

TUTTI_OMP void GOMP_barrier() { meet(self(), false); }
TUTTI_OMP bool GOMP_barrier_cancel() { return meet(self(), true); }
