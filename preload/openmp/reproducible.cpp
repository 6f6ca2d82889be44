// SPDX-License-Identifier: Apache-2.0
// The order in which ranks combine values, and regions whose ranks run one after the other.
#include "preload/openmp/reproducible.hpp"

namespace tutti::openmp {
namespace {

// The position of a rank: how many barriers it has come to, and how many turns it has had since.
constexpr std::uint64_t barrier_step = std::uint64_t{1} << 32;

void move_to(thread& me, std::uint64_t position) {
  omp_team& team = *me.now.team;
  me.now.position = position;
  atomic<std::uint64_t>& mine = team.slots[me.now.rank]->position;
  // release: publishes what this rank has combined; pairs with begin_in_order.
  mine.store(position, release);
}

// A late task runs while its rank waits, so it has no place in the order.
bool has_order(const thread& me) {
  return is_reproducible() && me.now.team->size > 1 && me.now.late_tasks == 0;
}
bool has_turns(const thread& me) { return has_order(me) && me.now.criticals == 0; }

void say_that_order_may_differ() {
  static atomic<bool> has_said{false};
  // relaxed: the flag decides only who prints the line.
  if (!has_said.exchange(true, relaxed))
    warn("ranks combine values while others wait for them; the order may differ between runs");
}

void hand_baton_to(omp_team& team, unsigned rank) {
  // release: publishes what this rank did; pairs with wait_for_baton.
  team.baton.store(rank, release);
  team.baton_wait.notify(team.baton);
}

// Only the rank that has the baton reads and writes the states.
void hand_on(thread& me) {
  omp_team& team = *me.now.team;
  for (int round = 0; round < 2; ++round) {
    for (unsigned i = 1; i <= team.size; ++i) {
      const unsigned rank = (me.now.rank + i) % team.size;
      // After a barrier the lowest rank is the first one.
      const unsigned candidate = round == 0 ? rank : i - 1;
      if (team.states[candidate] == rank_state::runs) return hand_baton_to(team, candidate);
    }
    // All ranks have come to the barrier, or have ended.
    for (rank_state& each : team.states)
      if (each == rank_state::at_barrier) each = rank_state::runs;
  }
}

}  // namespace

void note_serial(thread& me, region_function function) {
  if (runs_serially(function)) me.opens_serially = true;
}

void begin_in_order(thread& me) {
  if (!has_turns(me) || me.now.team->is_serial) return;
  omp_team& team = *me.now.team;
  if (me.now.locks != 0) return say_that_order_may_differ();
  const std::uint64_t mine = me.now.position;
  for (unsigned rank = 0; rank < team.size; ++rank) {
    if (rank == me.now.rank) continue;
    const std::uint64_t wanted = mine + (rank < me.now.rank ? 1 : 0);
    const rank_slot& other = *team.slots[rank];
    // acquire: pairs with move_to.
    while (other.position.load(acquire) < wanted) {
      // relaxed: tells only that nothing is to be waited for.
      if (other.is_away.load(relaxed) || team.away_with_lock.load(relaxed) != 0) {
        say_that_order_may_differ();
        break;
      }
      sched_yield();
    }
  }
}

void end_in_order(thread& me) {
  if (has_turns(me)) move_to(me, me.now.position + 1);
}

void begin_critical_in_order(thread& me) {
  begin_in_order(me);
  ++me.now.criticals;
}

void end_critical_in_order(thread& me) {
  --me.now.criticals;
  end_in_order(me);
}

void pass_order_at_barrier(thread& me) {
  if (has_order(me)) move_to(me, (me.now.position / barrier_step + 1) * barrier_step);
}

void pass_order_at_end(thread& me) {
  if (has_order(me)) move_to(me, UINT64_MAX);
}

void begin_absence(thread& me) {
  omp_team& team = *me.now.team;
  // relaxed: nothing is published.
  team.slots[me.now.rank]->is_away.store(true, relaxed);
  if (me.now.locks != 0) team.away_with_lock.fetch_add(1, relaxed);
}

void end_absence(thread& me) {
  omp_team& team = *me.now.team;
  // relaxed: nothing is published.
  team.slots[me.now.rank]->is_away.store(false, relaxed);
  if (me.now.locks != 0) team.away_with_lock.fetch_sub(1, relaxed);
}

void wait_for_baton(thread& me) {
  omp_team& team = *me.now.team;
  if (!team.is_serial) return;
  // acquire: pairs with hand_baton_to.
  team.baton_wait.until(me.turn_wait, team.baton, acquire,
                        [rank = me.now.rank](std::uint32_t now) { return now == rank; });
}

void pass_baton(thread& me) { hand_on(me); }

void pass_baton_at_barrier(thread& me) {
  if (!me.now.team->is_serial) return;
  me.now.team->states[me.now.rank] = rank_state::at_barrier;
  hand_on(me);
}

void pass_baton_at_end(thread& me) {
  if (!me.now.team->is_serial) return;
  me.now.team->states[me.now.rank] = rank_state::has_ended;
  hand_on(me);
}

}  // namespace tutti::openmp
