// SPDX-License-Identifier: Apache-2.0
// Parallel regions: how many threads they get, how they open and end.
#include <algorithm>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/neighbours.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/places.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/takeover.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "preload/openmp/workshares.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::openmp {
namespace {

// What a thread may have below this level of nesting.
template <class List, class Value>
void take_of_level(const List& list, unsigned level, Value& value) {
  if (level < list.size()) value = list[level];
}

// The counts of a region's tasks are sums over its ranks, of which the last region had others.
void clear_counts(omp_team& team) {
  const auto clear = [](atomic<std::uint64_t>& count) {
    // relaxed: only the ranks of the region change them, and the opening publishes them.
    if (count.load(relaxed) != 0) count.store(0, relaxed);
  };
  for (unsigned rank = 0; rank < team.size; ++rank) {
    clear(team.slots[rank]->made);
    clear(team.slots[rank]->ended);
  }
  clear(team.ended_elsewhere);
}

// Workers have the team's lines in their caches, which a store would take from them.
template <class T>
void set(T& variable, const T& value) {
  if (!(variable == value)) variable = value;
}

void make_room(omp_team& team, unsigned threads, bool is_bound) {
  while (team.implicit.size() < threads) team.implicit.push_back(new task);
  while (team.slots.size() < threads) team.slots.push_back(new rank_slot);
  while (team.workers.size() + 1 < threads) {
    worker* const w = get_worker(static_cast<unsigned>(team.workers.size()) + 1, is_bound);
    w->opening.set_patience(team.chosen);
    team.workers.push_back(w);
  }
}

omp_team& team_at(thread& me, unsigned depth) {
  while (me.teams.size() <= depth) {
    me.teams.push_back(new_team());
    set_patience(*me.teams.back(), usual_patience());
  }
  return *me.teams[depth];
}

void open_in_order(thread& me, omp_team& team) {
  team.is_serial = me.opens_serially && team.size > 1;
  me.opens_serially = false;
  team.states.assign(team.size, rank_state::runs);
  // relaxed: the opening of the region publishes them.
  team.baton.store(0, relaxed);
  team.away_with_lock.store(0, relaxed);
  for (unsigned rank = 0; rank < team.size; ++rank) {
    team.slots[rank]->position.store(0, relaxed);
    team.slots[rank]->is_away.store(false, relaxed);
  }
}

void end_in_order_of_region(thread& me) {
  pass_order_at_end(me);
  pass_baton_at_end(me);
}

void enter(thread& me, omp_team& team, unsigned rank, workshare* begin, std::uint32_t phase,
           std::uint32_t singles) {
  context& now = me.now;
  now.team = &team;
  now.rank = rank;
  now.level = team.level;
  now.active_level = team.active_level;
  now.last_workshare = begin;
  now.static_trip = 0;
  now.has_chunk = false;
  now.phase = {phase, false};
  now.singles = singles;
  now.is_combining = false;
  now.doacross_loops = 0;
  now.doacross = nullptr;
  now.position = 0;
  now.locks = now.criticals = now.late_tasks = 0;
  now.current = team.implicit[rank];
  init_implicit(*now.current, team, team.outer);
}

// The thread has entered a region; `frame` is that of the function that calls the region's.
[[gnu::cold, gnu::noinline]] void watch_region(thread& me, void* frame) {
  if (ompt::is_on()) ompt::implicit_task_begins(me, frame);
}

}  // namespace

[[gnu::cold]] void announce_region(thread& me, unsigned asked, int flags, ompt::call_site at) {
  omp_team& team = team_at(me, me.depth);
  // The last region's threads may still report its end.
  wait_until_left(team);
  ompt::region_begins(me, team, asked != 0 ? asked : env(me).threads,
                      flags | int{ompt_parallel_team}, at);
}

namespace {

// The threads of all regions that the initial thread of this one has open, also in other branches
// of nested regions. Counted are only the regions whose number of threads is limited.
atomic<unsigned>& busy_threads(const context& inside) {
  const context* c = &inside;
  while (c->level > 0) c = &c->team->outer;
  return c->team->busy_threads;
}

// Takes as many of the threads that a region wants as the limit allows; return_from gives them
// back.
unsigned take_of_limit(const context& opener, unsigned wanted, unsigned limit) {
  atomic<unsigned>& busy = busy_threads(opener);
  if (opener.level == 0) {
    const unsigned taken = std::min(wanted, limit);
    // relaxed: a count.
    busy.store(taken, relaxed);
    return taken;
  }
  // relaxed: a count.
  unsigned before = busy.load(relaxed), taken = 1;
  do {
    taken = before < limit ? std::min(wanted, limit - before + 1) : 1;
    // relaxed: a count.
  } while (!busy.compare_exchange_weak(before, before + taken - 1, relaxed, relaxed));
  return taken;
}

[[gnu::cold, gnu::noinline]] void give_back_to_limit(const omp_team& team) {
  // relaxed: a count.
  if (team.outer.level == 0) return busy_threads(team.outer).store(1, relaxed);
  // relaxed: a count.
  busy_threads(team.outer).fetch_sub(team.limited_threads, relaxed);
}

}  // namespace

unsigned threads_of_region(thread& me, unsigned asked, unsigned sections) {
  if (asked == 1) return 1;
  const settings& e = env(me);
  if (me.now.active_level >= e.max_active_levels) return 1;
  unsigned threads = asked != 0 ? asked : e.threads;
  if (e.is_dynamic) {
    threads = std::min(threads, processors_here());
    if (sections != 0) threads = std::min(threads, sections);
  }
  threads = std::max(1u, threads);
  return e.thread_limit != UINT32_MAX ? take_of_limit(me.now, threads, e.thread_limit) : threads;
}

omp_team& open_region(thread& me, region_function function, void* data, unsigned threads,
                      unsigned flags, taskgroup* group, const plan* first) {
  note_region(me, function);
  omp_team& team = team_at(me, me.depth);
  wait_until_left(team);
  if (threads > team.workers.size() + 1) look_at_cpus(me, team);
  const bool is_crowded = threads > std::min(usable_processors(), team.cpu_count);
  if (is_crowded)
    look_for_neighbours(team, threads);
  else if (team.has_neighbours)
    forget_neighbours(team);
  const bool is_bound = is_crowded && !team.has_neighbours;
  make_room(team, threads, is_bound);
  ++me.depth;
  if (places_ != nullptr) take_place(me.now);
  set(team.outer, me.now);
  const context& outer = team.outer;
  const settings& mine = *outer.current->env;
  settings wanted = mine;
  if (global().threads_by_level.size() > 1)
    take_of_level(global().threads_by_level, outer.level + 1, wanted.threads);
  const auto asked_bind = static_cast<unsigned char>(flags & 7);
  const unsigned char bind = mine.bind == bind_false || asked_bind == 0 ? mine.bind : asked_bind;
  if ((flags & keeps_bind) == 0) wanted.bind = bind;
  if (global().bind_by_level.size() > 1)
    take_of_level(global().bind_by_level, outer.level + 1, wanted.bind);
  set(team.env, wanted);
  set(team.size, threads);
  set(team.limited_threads, mine.thread_limit == UINT32_MAX ? 0 : threads - 1);
  set(team.level, outer.level + 1);
  set(team.active_level, outer.active_level + (threads > 1 ? 1 : 0));
  set(team.is_crowded, is_crowded);
  set(team.has_tasks, makes_tasks() || global().can_cancel || threads == 1);
  set(team.group, group);
  set(team.num_teams, me.num_teams);
  set(team.team_num, me.team_num);
  if (team.has_tasks) clear_counts(team);
  set(team.ended_doacross, 0u);
  const std::uint32_t phase = team.barrier.restart();
  // relaxed: only ranks of the region change them, and the opening publishes them.
  if (team.is_cancelled.load(relaxed)) {
    team.is_cancelled.store(false, relaxed);
    team.barrier.clear_look_again();
    team.after_cancellation.clear_look_again();
  }
  if (team.cancelled_phase.load(relaxed) != 0) team.cancelled_phase.store(0, relaxed);
  set(team.phase_after_cancellation, team.after_cancellation.restart());
  const std::uint32_t singles = team.barrier.singles(threads);
  workshare* const begin = first != nullptr ? make_first_workshare(me, team, *first) : &team.root;
  if (is_reproducible()) open_in_order(me, team);
  if (places_ != nullptr) place_ranks(outer, bind, threads, team.placements);
  if (global().displays_affinity) show_affinity(me, team, bind);
  for (unsigned rank = 1; rank < threads; ++rank) {
    worker& w = *team.workers[rank - 1];
    published_region& region = w.region;
    region.rank = rank;
    region.function = function;
    region.data = data;
    region.team = &team;
    region.begin = begin;
    region.phase = phase;
    region.singles = singles;
    region.is_bound = is_bound;
    if (team.has_neighbours) poll_once(w.collecting);
    region.waker_cpu = w.opening.asleep() != 0 ? native::cpu() : -1;
    if (region.waker_cpu >= 0) w.opened_ns = native::now_ns();
    // relaxed: only this thread and the worker, which waits, write it.
    const std::uint32_t last = region.word.load(relaxed);
    // release: publishes the job and all that this thread did before; pairs with the worker's load.
    region.word.store((last & ~3u) + 4 + published_region::opened, release);
  }
  // Notifications come last, because each waits until the stores before it are visible.
  for (unsigned rank = 1; rank < threads; ++rank)
    team.workers[rank - 1]->opening.notify(team.workers[rank - 1]->region.word);
  if (team.has_neighbours) poll_once(me.barrier_wait);
  enter(me, team, 0, begin, phase, singles);
  if (!team.placements.empty()) static_cast<placement&>(me.now) = team.placements[0];
  if (global().watches_regions) watch_region(me, team.tool.opened_at.frame);
  return team;
}

namespace {

void leave(worker& w, omp_team& team) {
  w.seen = (w.seen & ~3u) | published_region::arrived;
  // release: publishes this rank's work; pairs with wait_for_arrivals.
  w.region.word.store(w.seen, release);
  team.closing.notify(w.region.word);
}

void wait_for_arrivals(omp_team& team, unsigned size) {
  for (unsigned rank = 1; rank < size; ++rank) {
    worker& w = *team.workers[rank - 1];
    // acquire: pairs with the worker's arrival.
    team.closing.until(w.collecting, w.region.word, acquire,
                       [](std::uint32_t now) { return (now & 3) == published_region::arrived; });
  }
}

}  // namespace

void wait_until_left(omp_team& team) {
  if (team.leaving == 1) return;
  wait_for_arrivals(team, team.leaving);
  team.leaving = 1;
}

void leave_regions(thread& me) {
  me.now = {};
  me.now.team = me.initial;
  me.now.last_workshare = &me.initial->root;
  me.now.current = me.initial->implicit[0];
}

void run_as_worker(worker& w) {
  thread& me = self();
  omp_team& team = *w.region.team;
  if (!team.placements.empty()) {
    placement& mine = me.now;
    mine = team.placements[w.region.rank];
    if (mine.place != w.bound_place) bind_to_place(mine.place);
    w.bound_place = mine.place;
  }
  if (team.has_neighbours) {
    poll_once(w.awaiting);
    poll_once(me.barrier_wait);
  }
  enter(me, team, w.region.rank, w.region.begin, w.region.phase, w.region.singles);
  me.num_teams = team.num_teams;
  me.team_num = team.team_num;
  if (global().watches_regions) watch_region(me, TUTTI_OMPT_FRAME);
  if (is_reproducible()) wait_for_baton(me);
  w.region.function(w.region.data);
  end_implicit(me, *me.now.current);
  if (is_reproducible()) end_in_order_of_region(me);
  if (team.has_tasks) {
    if (ompt::is_on()) {
      ompt::end_implicit_task(me);
      // The tool may call routines of OpenMP when the thread ends.
      leave_regions(me);
    } else {
      wait_at_end_with_tasks(me);
      me.now = {};
    }
    leave(w, team);
    return;
  }
  if (team.is_crowded) {
    team.barrier.arrive(me.now.phase, team.size);
    return;
  }
  leave(w, team);
}

namespace {

// All ranks have ended their parts.
void return_from(thread& me, omp_team& team) {
  free_workshares(me, team);
  if (team.limited_threads != 0) give_back_to_limit(team);
  me.now = team.outer;
  --me.depth;
}

// All implicit tasks have ended when the tool hears of the region's end.
[[gnu::cold, gnu::noinline]] void close_watched_region(thread& me, omp_team& team) {
  ompt::end_implicit_task(me);
  team.leaving = team.size;
  wait_until_left(team);
  return_from(me, team);
  ompt::region_ends(me, team);
}

}  // namespace

void close_region(thread& me) {
  omp_team& team = *me.now.team;
  end_implicit(me, *me.now.current);
  if (is_reproducible()) end_in_order_of_region(me);
  if (team.has_tasks) {
    // With a tool, regions always have tasks.
    if (ompt::is_on()) return close_watched_region(me, team);
    wait_at_end_with_tasks(me);
    team.leaving = team.size;
  } else if (team.is_crowded) {
    wait_at_end_without_tasks(me);
  } else {
    wait_for_arrivals(team, team.size);
  }
  return_from(me, team);
}

void open_alone(thread& me) {
  omp_team& team = team_at(me, me.depth);
  wait_until_left(team);
  make_room(team, 1, false);
  ++me.depth;
  team.outer = me.now;
  team.env = env(me);
  team.size = 1;
  team.limited_threads = team.level = team.active_level = 0;
  team.is_crowded = false;
  team.has_tasks = true;
  team.group = nullptr;
  team.tool = {};
  clear_counts(team);
  team.ended_doacross = 0;
  // relaxed: no other thread has the region.
  team.is_cancelled.store(false, relaxed);
  team.cancelled_phase.store(0, relaxed);
  if (is_reproducible()) open_in_order(me, team);
  enter(me, team, 0, &team.root, team.barrier.restart(), team.barrier.singles(1));
  me.now.current->parent = nullptr;
}

void close_alone(thread& me) {
  omp_team& team = *me.now.team;
  task& whole = *me.now.current;
  // Tasks that await an event outlive the function, and so may tasks that those have made.
  wait_at_end_with_tasks(me);
  end_implicit(me, whole);
  ompt::forget_part(whole);
  return_from(me, team);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;
using tutti::acquire;
using tutti::release;

TUTTI_OMP void GOMP_parallel_start(region_function function, void* data, unsigned threads) {
  thread& me = self();
  if (ompt::is_on())
    announce_region(me, threads, ompt_parallel_invoker_program, TUTTI_OMPT_CALL_SITE);
  open_region(me, function, data, threads_of_region(me, threads, 0), 0, nullptr, nullptr);
}

TUTTI_OMP void GOMP_parallel_end() { close_region(self()); }

TUTTI_OMP void GOMP_parallel(region_function function, void* data, unsigned threads,
                             unsigned flags) {
  thread& me = self();
  if (ompt::is_on())
    announce_region(me, threads, ompt_parallel_invoker_runtime, TUTTI_OMPT_CALL_SITE);
  open_region(me, function, data, threads_of_region(me, threads, 0), flags, nullptr, nullptr);
  function(data);
  close_region(me);
}

TUTTI_OMP unsigned GOMP_parallel_reductions(region_function function, void* data, unsigned threads,
                                            unsigned flags) {
  thread& me = self();
  if (ompt::is_on())
    announce_region(me, threads, ompt_parallel_invoker_runtime, TUTTI_OMPT_CALL_SITE);
  threads = threads_of_region(me, threads, 0);
  taskgroup group;
  group.reductions = *static_cast<std::uintptr_t**>(data);
  register_reductions(group.reductions, nullptr, nullptr, threads);
  open_region(me, function, data, threads, flags, &group, nullptr);
  function(data);
  close_region(me);
  return threads;
}

// ---- teams on the host, one after the other

TUTTI_OMP void GOMP_teams_reg(region_function function, void* data, unsigned teams, unsigned limit,
                              unsigned) {
  thread& me = self();
  settings& e = env_to_change(me);
  const unsigned limit_before = e.thread_limit;
  if (limit == 0) limit = global().teams_thread_limit;
  if (limit != 0) e.thread_limit = limit;
  if (teams == 0) teams = global().num_teams != 0 ? global().num_teams : 3;
  me.num_teams = teams;
  for (me.team_num = 0; me.team_num < teams; ++me.team_num) function(data);
  me.num_teams = 1;
  me.team_num = 0;
  if (limit != 0) env_to_change(me).thread_limit = limit_before;
}

TUTTI_OMP void GOMP_teams(unsigned teams, unsigned limit) {
  if (limit != 0) env_to_change(self()).thread_limit = limit;
  static_cast<void>(teams);
}

TUTTI_OMP bool GOMP_teams4(unsigned low, unsigned, unsigned limit, bool is_first) {
  thread& me = self();
  if (is_first) {
    if (limit != 0) env_to_change(me).thread_limit = limit;
    me.num_teams = low != 0 ? low : 1;
    me.team_num = 0;
    return true;
  }
  if (me.team_num + 1 >= me.num_teams) return false;
  ++me.team_num;
  return true;
}

// ---- cancellation

namespace {
enum : int { cancel_parallel = 1, cancel_loop = 2, cancel_sections = 4, cancel_taskgroup = 8 };

// What omp_team::cancelled_phase says of the thread's construct. A phase begins at an even number.
std::uint32_t cancelled_phase_here(const thread& me) { return me.now.phase.begin + 1; }

bool is_cancelled_at(const thread& me, int which) {
  const omp_team& team = *me.now.team;
  // acquire: pairs with the cancelling store.
  if ((which & (cancel_loop | cancel_sections)) != 0)
    return team.cancelled_phase.load(acquire) == cancelled_phase_here(me) ||
           team.is_cancelled.load(acquire);
  if ((which & cancel_taskgroup) != 0 && me.now.current->group != nullptr) {
    const taskgroup& g = *me.now.current->group;
    // acquire: see above.
    if (g.is_cancelled.load(acquire) ||
        (g.is_of_workshare && g.outer != nullptr && g.outer->is_cancelled.load(acquire)))
      return true;
  }
  // acquire: see above.
  return team.is_cancelled.load(acquire);
}

[[gnu::cold, gnu::noinline]] void report_cancel(thread& me, int which, int how,
                                                ompt::call_site at) {
  const int kind = (which & cancel_loop) != 0        ? ompt_cancel_loop
                   : (which & cancel_sections) != 0  ? ompt_cancel_sections
                   : (which & cancel_taskgroup) != 0 ? ompt_cancel_taskgroup
                                                     : ompt_cancel_parallel;
  ompt::cancel_event(me, *me.now.current, kind | how, at);
}
}  // namespace

namespace tutti::openmp {

bool is_at_cancelled_point(int which, ompt::call_site at) {
  if (!global().can_cancel) return false;
  thread& me = self();
  const bool result = is_cancelled_at(me, which);
  if (ompt::is_on() && result) report_cancel(me, which, ompt_cancel_detected, at);
  return result;
}

bool cancel(int which, bool does, ompt::call_site at) {
  if (!global().can_cancel) return false;
  if (!does) return is_at_cancelled_point(which, at);
  thread& me = self();
  omp_team& team = *me.now.team;
  if (ompt::is_on()) report_cancel(me, which, ompt_cancel_activated, at);
  if ((which & (cancel_loop | cancel_sections)) != 0) {
    // A thread outside of regions is alone, and passes no barrier that would end the cancellation.
    if (team.level == 0) return true;
    // release: pairs with the cancellation points.
    team.cancelled_phase.store(cancelled_phase_here(me), release);
  } else if ((which & cancel_taskgroup) != 0) {
    taskgroup* group = me.now.current->group;
    if (group != nullptr && group->is_of_workshare && group->outer != nullptr) group = group->outer;
    // release: see above.
    if (group != nullptr) group->is_cancelled.store(true, release);
  } else {
    // release: see above.
    team.is_cancelled.store(true, release);
    team.barrier.tell_to_look();
    team.after_cancellation.tell_to_look();
  }
  return true;
}

}  // namespace tutti::openmp

TUTTI_OMP bool GOMP_cancellation_point(int which) {
  return is_at_cancelled_point(which, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP bool GOMP_cancel(int which, bool does) {
  return cancel(which, does, TUTTI_OMPT_CALL_SITE);
}
