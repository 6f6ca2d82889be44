// SPDX-License-Identifier: Apache-2.0
// The life of a task. A thread that waits for its children or for a group runs descendants of its
// task; a thread at a barrier runs any task. Tasks whose predecessors have not ended are in no
// queue.
//
// No lock is taken for a task without dependences and events but those of the queues: counts of
// children and of groups are atomic, and each rank counts the tasks that it makes and ends.
#include "preload/openmp/tasks.hpp"

#include <cstdlib>
#include <cstring>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/locks.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::openmp {
namespace {

// A thread that has queued so many tasks runs new ones at once, until few are left. It changes over
// seldom, so that the thread and those that take its tasks do not use the queue at the same time.
constexpr unsigned many_queued = 64, few_queued = 32;
// Each task of a long chain may make the next one, so a thread that runs new tasks at once, inside
// of their makers, queues them if many such tasks are on its stack already: the only thread of a
// team does so from the first number on, until it has queued many, and every thread from the
// second one. Tasks that wait for others, or for events, go deeper by the first number at most.
constexpr unsigned few_nested = 64, most_nested = 256;
// With so many queued, memory is scarcer than the stack. Tasks that wait are queued up to here, so
// that a thread that makes a graph of them seldom stops for a long one.
constexpr unsigned most_queued = 4096;

// Under the team's lock: lets the successors run.
void release_successors(thread& me, task& t) {
  t.is_done = true;
  for (task* const next : t.successors) {
    if (--next->predecessors != 0) continue;
    // relaxed: the lock orders it.
    if (next->is_undeferred) {
      wake(*next->waiter.load(relaxed));
      continue;
    }
    // push_task needs the parent of both, which `t` no longer keeps if it has left that out.
    task& parent = *next->parent;
    const bool is_kept = &parent == t.parent || !parent.is_explicit;
    // relaxed: the next task keeps its parent until it is in a queue.
    if (!is_kept) parent.references.fetch_add(1, relaxed);
    push_task(me, *t.team, *next);
    if (!is_kept) drop(me, &parent);
  }
  t.successors.clear();
}

template <class Waited>
void count_end(Waited& of) {
  // seq_cst: publishes what the task did; and puts the end before the look for a waiter, as the
  // waiter announces itself before it looks at the count.
  if (of.unfinished.fetch_sub(1, seq_cst) != 1) return;
  // seq_cst: see above.
  if (thread* const waiter = of.waiter.load(seq_cst)) wake(*waiter);
}

// The end of a task that was deferred. Nobody counts on the task's memory afterwards.
void complete(thread& me, task& t) {
  omp_team& team = *t.team;
  if (t.has_dependences) {
    const locked guard(team.task_lock);
    release_successors(me, t);
  }
  if (t.group != nullptr) count_end(*t.group);
  if (t.is_counted_by_parent) count_end(*t.parent);
  end_life(me, t);
  if (me.now.team == &team) {
    atomic<std::uint64_t>& ended = team.slots[me.now.rank]->ended;
    // relaxed: only this thread writes it. release: publishes the end; pairs with have_all_ended.
    ended.store(ended.load(relaxed) + 1, release);
  } else {
    // release: see above.
    team.ended_elsewhere.fetch_add(1, release);
    wake_barriers(team);
  }
}

void finish(thread& me, task& t) {
  forget_dependences(me, t);
  if (t.is_detachable) {
    const locked guard(t.team->task_lock);
    t.has_returned = true;
    if (t.awaits_event) return;
  }
  complete(me, t);
}

void run(thread& me, task& t) {
  if (ompt::is_on()) return ompt::run_task(me, t);
  task* const before = me.now.current;
  me.now.current = &t;
  t.function(t.data);
  me.now.current = before;
}

// Runs descendants of the current task, and sleeps while there are none, until `is_over`.
template <class IsOver>
void help_until(thread& me, IsOver is_over) {
  task& current = *me.now.current;
  omp_team& team = *me.now.team;
  rank_slot& mine = *team.slots[me.now.rank];
  while (!is_over()) {
    if (task* const next = take_task(me, team, &current)) {
      execute_late(me, *next);
      continue;
    }
    // relaxed: what happens after this changes the word again.
    const std::uint32_t seen = me.wake_word.load(relaxed);
    // relaxed: the fence orders them.
    mine.depth.store(current.depth, relaxed);
    mine.waiter.store(&me, relaxed);
    mine.waits_in.store(&current, relaxed);
    team.idle.fetch_add(1, relaxed);
    // seq_cst: the announcement comes before the look at the queues; pairs with push_task.
    platform::fence(seq_cst);
    task* const late = is_over() ? nullptr : take_task(me, team, &current);
    if (late == nullptr && !is_over()) {
      let_others_run_until(me, is_over);
      if (!team.is_serial) {
        const absence away(me, is_reproducible());
        sleep_until_woken(me, seen);
      }
    }
    // relaxed: a thread that is woken in vain looks and sleeps again.
    team.idle.fetch_sub(1, relaxed);
    mine.waits_in.store(nullptr, relaxed);
    if (late != nullptr) execute_late(me, *late);
  }
}

// Waits until a count of unfinished tasks is zero.
template <class Waited>
void wait_for(thread& me, Waited& of) {
  // acquire: pairs with count_end.
  if (of.unfinished.load(acquire) == 0) return;
  // seq_cst: see count_end.
  of.waiter.store(&me, seq_cst);
  help_until(me, [&of] {
    // seq_cst: see count_end.
    return of.unfinished.load(seq_cst) == 0;
  });
  // relaxed: a thread that is woken in vain looks and sleeps again.
  of.waiter.store(nullptr, relaxed);
}

// Takes ancestors that have ended from between a task and those that have not, so that the memory
// of a chain of tasks, each of which makes the next one and ends, does not grow. No thread may
// follow the task's links meanwhile: it is in no queue and has no descendants. A thread that looks
// for a running task among ancestors misses none that way.
void leave_out_ended(thread& me, task& t) {
  // acquire: pairs with end_life; the parent's own link changes no more.
  while (t.parent->is_explicit && t.parent->has_ended.load(acquire)) {
    task* const ended = t.parent;
    // relaxed: the task that has ended keeps its parent's memory.
    if (ended->parent->is_explicit) ended->parent->references.fetch_add(1, relaxed);
    t.parent = ended->parent;
    t.is_counted_by_parent = false;
    drop(me, ended);
  }
}

}  // namespace

// ---- tasks and their memory

[[gnu::always_inline]] inline task& make_child(thread& me) {
  task_with_data* const t = me.free_tasks.take();
  task& parent = *me.now.current;
  // acquire: pairs with drop; those that used the links through the children are done.
  if (parent.is_explicit && parent.parent->is_explicit && parent.references.load(acquire) == 1)
    leave_out_ended(me, parent);
  t->parent = &parent;
  t->team = me.now.team;
  t->depth = parent.depth + 1;
  if (parent.env == &parent.own_env) {
    t->own_env = parent.own_env;
    t->env = &t->own_env;
  } else {
    t->env = parent.env;
  }
  t->group = parent.group;
  t->destroy = nullptr;
  t->priority = 0;
  t->is_explicit = true;
  t->is_final = parent.is_final;
  t->is_undeferred = t->is_detachable = t->awaits_event = t->has_returned = t->is_done = false;
  t->is_cancellable = t->is_counted_by_parent = true;
  // relaxed: nobody else knows the task.
  t->has_ended.store(false, relaxed);
  // relaxed: as above. Children that left an ended task out have not counted down.
  t->unfinished.store(0, relaxed);
  t->has_dependences = false;
  // relaxed: nobody else knows the task.
  t->references.store(1, relaxed);
  t->predecessors = 0;
  // relaxed: the parent lives.
  if (parent.is_explicit) parent.references.fetch_add(1, relaxed);
  return *t;
}

task& new_task(thread& me) { return make_child(me); }

void drop(thread& me, task* t) {
  // A task has a reference to its parent as long as it has references itself: a descendant that
  // waits in a queue needs all of its ancestors (task_queues.cpp), also those that have ended.
  while (t->is_explicit) {
    // acquire: pairs with the other drops; the only reference is the caller's own.
    // acq_rel: the thread that frees the task follows all others that used it.
    if (t->references.load(acquire) != 1 && t->references.fetch_sub(1, acq_rel) != 1) return;
    auto* const whole = static_cast<task_with_data*>(t);
    t = t->parent;
    me.free_tasks.give(whole);
  }
}

void end_life(thread& me, task& t) {
  // Children and tables may refer to the task for long, but nobody reads its data any more.
  auto& whole = static_cast<task_with_data&>(t);
  if (whole.allocated != nullptr) {
    std::free(whole.allocated);
    whole.allocated = nullptr;
  }
  // release: pairs with leave_out_ended.
  t.has_ended.store(true, release);
  drop(me, &t);
}

void* room_for_data(task& t, long size, long align) {
  auto& whole = static_cast<task_with_data&>(t);
  if (size <= static_cast<long>(sizeof whole.room) && align <= 64) return whole.room;
  const auto rounded = static_cast<std::size_t>(std::max(align, 16L));
  whole.allocated = std::aligned_alloc(
      rounded, (static_cast<std::size_t>(size) + rounded - 1) / rounded * rounded);
  if (whole.allocated == nullptr) fatal("Out of memory allocating %ld bytes", size);
  return whole.allocated;
}

void* copy_data(task& t, void* data, void (*copy)(void*, void*), long size, long align) {
  void* const to = room_for_data(t, size, align);
  if (copy != nullptr)
    copy(to, data);
  else
    std::memcpy(to, data, static_cast<std::size_t>(size));
  return to;
}

void init_implicit(task& t, omp_team& team, const context& outer) {
  t.parent = outer.current;
  t.team = &team;
  t.env = &team.env;
  t.group = team.group;
  t.is_final = false;
}

void end_implicit(thread& me, task& t) { forget_dependences(me, t); }

// ---- the way of a task

bool is_cancelled(const task& t) {
  // acquire: pairs with GOMP_cancel.
  if (t.team->is_cancelled.load(acquire)) return true;
  const taskgroup* const g = t.group;
  // acquire: see above.
  return g != nullptr &&
         (g->is_cancelled.load(acquire) ||
          (g->is_of_workshare && g->outer != nullptr && g->outer->is_cancelled.load(acquire)));
}

namespace {

void destroy_unrun(thread& me, task& t) {
  if (ompt::is_on()) ompt::task_discarded(me, t);
  if (t.destroy != nullptr) t.destroy(t.data);
}

}  // namespace

bool is_discarded(const task& t) {
  return global().can_cancel && t.is_cancellable && is_cancelled(t);
}

void discard(thread& me, task& t) {
  destroy_unrun(me, t);
  end_life(me, t);
}

namespace {

// The rest of execute().
void run_and_finish(thread& me, task& t) {
  if (is_discarded(t)) {
    destroy_unrun(me, t);
    if (t.is_detachable) {
      const locked guard(t.team->task_lock);
      t.awaits_event = false;
    }
  } else {
    run(me, t);
  }
  finish(me, t);
}

// Whether the thread runs new tasks at once because it has queued many.
bool runs_new_ones(thread& me) {
  const unsigned queued = queued_by(me);
  me.has_queued_many = queued >= (me.has_queued_many ? few_queued : many_queued);
  return me.has_queued_many && (me.nested < most_nested || queued >= most_queued);
}

// Whether a task that may run goes into a queue. If `waited`, is_included() has not looked whether
// the thread has queued many.
bool is_deferred(thread& me, const omp_team& team, bool waited) {
  // A team whose barrier does not wait for tasks cannot defer them.
  if (!team.has_tasks) return false;
  if (team.size == 1) return me.nested >= few_nested && !runs_new_ones(me);
  return !is_reproducible() && !(waited && me.nested < few_nested && queued_by(me) >= most_queued);
}

}  // namespace

void execute(thread& me, task& t) {
  leave_out_ended(me, t);
  run_and_finish(me, t);
}

bool is_included(thread& me, bool if_clause, bool waits) {
  if (!if_clause || me.now.current->is_final) return true;
  return !waits && me.now.team->size > 1 && runs_new_ones(me);
}

void submit(thread& me, task& t, std::span<const dependence> depend) {
  omp_team& team = *t.team;
  team.barrier.note_task(me.now.phase, team.size);
  // relaxed: the task's end, which is published later, counts down.
  t.parent->unfinished.fetch_add(1, relaxed);
  if (t.group != nullptr) t.group->unfinished.fetch_add(1, relaxed);
  atomic<std::uint64_t>& made = team.slots[me.now.rank]->made;
  // relaxed: only this thread writes it, and the task's end publishes it.
  made.store(made.load(relaxed) + 1, relaxed);
  if (!depend.empty()) {
    const locked guard(team.task_lock);
    add_dependences(me, t, depend);
    if (t.predecessors != 0) return;
  }
  // A task for which something must happen first is deferred in any case, and its parent waits for
  // it.
  if (is_deferred(me, team, !depend.empty() || t.is_detachable)) return push_task(me, team, t);
  // Its maker has not ended.
  ++me.nested;
  run_and_finish(me, t);
  --me.nested;
}

// Runs the task before it returns, once its predecessors have ended.
void run_at_once(thread& me, task& t, std::span<const dependence> depend) {
  omp_team& team = *t.team;
  t.is_undeferred = true;
  // relaxed: the lock orders it.
  t.waiter.store(&me, relaxed);
  if (!depend.empty()) {
    {
      const locked guard(team.task_lock);
      add_dependences(me, t, depend);
    }
    help_until(me, [&] {
      const locked guard(team.task_lock);
      return t.predecessors == 0;
    });
  }
  ++me.nested;
  run(me, t);
  --me.nested;
  end_at_once(me, t);
}

void end_at_once(thread& me, task& t) {
  omp_team& team = *t.team;
  if (t.is_detachable) {
    {
      // The task's own waits have cleared it.
      const locked guard(team.task_lock);
      // relaxed: the lock orders it.
      t.waiter.store(&me, relaxed);
    }
    help_until(me, [&] {
      const locked guard(team.task_lock);
      return !t.awaits_event;
    });
  }
  forget_dependences(me, t);
  if (t.has_dependences) {
    const locked guard(team.task_lock);
    release_successors(me, t);
  }
  // relaxed: see above.
  t.waiter.store(nullptr, relaxed);
  end_life(me, t);
}

void wait_for_children(thread& me) {
  task& current = *me.now.current;
  wait_for(me, current);
  // Later children have nothing to wait for, and the table keeps the memory of those that ended.
  if (current.depends != nullptr) forget_if_large(me, current);
}

namespace {
void nothing(void*) {}
}  // namespace

void wait_for_dependences(thread& me, std::span<const dependence> depend, ompt::call_site at) {
  if (me.now.current->depends == nullptr || depend.empty()) return;
  task& t = new_task(me);
  t.function = nothing;
  if (ompt::is_on())
    ompt::task_created(me, t, ompt_task_taskwait | ompt_task_undeferred | ompt_task_mergeable,
                       depend, at);
  run_at_once(me, t, depend);
}

void fulfill(thread& me, task& t) {
  {
    const locked guard(t.team->task_lock);
    if (!t.awaits_event)
      fatal("omp_fulfill_event: %p event is invalid or has already been fulfilled!",
            static_cast<void*>(&t));
    if (ompt::is_on()) ompt::event_fulfilled(me, t);
    t.awaits_event = false;
    if (t.is_undeferred) {
      // relaxed: the lock orders it.
      if (thread* const waiter = t.waiter.load(relaxed)) wake(*waiter);
      return;
    }
    if (!t.has_returned) return;
  }
  omp_team& team = *t.team;
  complete(me, t);
  // All ranks may wait for this task.
  wake_barriers(team);
}

// ---- groups

void start_group(thread& me, bool is_of_workshare) {
  taskgroup* const g = me.free_groups.take();
  g->outer = me.now.current->group;
  g->is_of_workshare = is_of_workshare;
  g->of_clang = nullptr;
  g->reductions = g->outer != nullptr ? g->outer->reductions : nullptr;
  // relaxed: nobody else knows the group.
  if (g->is_cancelled.load(relaxed)) g->is_cancelled.store(false, relaxed);
  me.now.current->group = g;
}

void wait_for_group(thread& me, taskgroup& group) { wait_for(me, group); }

void end_group(thread& me) {
  task& current = *me.now.current;
  taskgroup* const g = current.group;
  if (g == nullptr) return;
  wait_for(me, *g);
  current.group = g->outer;
  me.free_groups.give(g);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

namespace {

// GCC's list of dependences has two layouts.
std::span<const dependence> list_of(thread& me, void** list) {
  std::vector<dependence>& all = me.dependences_of_next;
  all.clear();
  auto count = reinterpret_cast<std::uintptr_t>(list[0]);
  std::uintptr_t writing = 0, plain = 0, first = 2, mutexes = 0;
  if (count != 0) {
    writing = reinterpret_cast<std::uintptr_t>(list[1]);
    plain = count;
  } else {
    count = reinterpret_cast<std::uintptr_t>(list[1]);
    mutexes = reinterpret_cast<std::uintptr_t>(list[3]);
    writing = reinterpret_cast<std::uintptr_t>(list[2]) + mutexes;
    plain = writing + reinterpret_cast<std::uintptr_t>(list[4]);
    first = 5;
  }
  for (std::uintptr_t i = 0; i < count; ++i) {
    void* const address = list[first + i];
    if (i < plain) {
      all.push_back({address, i < writing, i < writing && i >= writing - mutexes});
    } else {
      void** const object = static_cast<void**>(address);
      constexpr std::uintptr_t kind_in = 1;
      all.push_back({object[0], reinterpret_cast<std::uintptr_t>(object[1]) != kind_in});
    }
  }
  return all;
}

// Runs a task that waits for nothing before its maker goes on, without a tool: the common case of
// run_at_once(), which takes half as many instructions.
void run_included(thread& me, task& t, region_function function, void* data) {
  task* const before = me.now.current;
  me.now.current = &t;
  ++me.nested;
  function(data);
  --me.nested;
  me.now.current = before;
  if (t.depends != nullptr) forget_dependences(me, t);
  end_life(me, t);
}

}  // namespace

TUTTI_OMP void GOMP_task(region_function function, void* data, void (*copy)(void*, void*),
                         long size, long align, bool if_clause, unsigned flags, void** depend,
                         int priority, void* detach) {
  thread& me = self();
  note_tasks();
  if (global().can_cancel && is_cancelled(*me.now.current)) return;
  const bool at_once = is_included(me, if_clause, (flags & (flag_depend | flag_detach)) != 0);
  task& t = make_child(me);
  t.function = function;
  t.is_final = (flags & flag_final) != 0 || t.is_final;
  if (at_once && copy == nullptr && (flags & (flag_depend | flag_detach)) == 0 && !ompt::is_on())
    return run_included(me, t, function, data);
  if ((flags & flag_priority) != 0)
    t.priority = std::clamp(priority, 0, global().max_task_priority);
  if ((flags & flag_detach) != 0) {
    t.is_detachable = t.awaits_event = true;
    *static_cast<task**>(detach) = &t;
    // The compiler lets the data begin with the event.
    if (data != nullptr) *static_cast<task**>(data) = &t;
  }
  if (at_once && copy == nullptr)
    t.data = data;
  else
    t.data = copy_data(t, data, copy, size, align);
  t.is_cancellable = copy == nullptr;
  std::span<const dependence> list;
  if ((flags & flag_depend) != 0) list = list_of(me, depend);
  if (ompt::is_on())
    ompt::task_created(me, t,
                       ((flags & flag_untied) != 0 ? ompt_task_untied : 0) |
                           ((flags & flag_mergeable) != 0 ? ompt_task_mergeable : 0) |
                           (at_once ? ompt_task_undeferred : 0),
                       list, TUTTI_OMPT_CALL_SITE);
  if (at_once)
    run_at_once(me, t, list);
  else
    submit(me, t, list);
}

TUTTI_OMP void GOMP_taskwait() {
  thread& me = self();
  ompt::in_sync_region(me, ompt_sync_region_taskwait, TUTTI_OMPT_CALL_SITE,
                       [&me] { wait_for_children(me); });
}

TUTTI_OMP void GOMP_taskwait_depend(void** depend) {
  thread& me = self();
  wait_for_dependences(me, list_of(me, depend), TUTTI_OMPT_CALL_SITE);
}

TUTTI_OMP void GOMP_taskwait_depend_nowait(void** depend) {
  char none = 0;
  GOMP_task(nothing, &none, nullptr, 0, 1, true, flag_depend, depend, 0, nullptr);
}

TUTTI_OMP void GOMP_taskyield() {}
TUTTI_OMP void GOMP_taskgroup_start() {
  thread& me = self();
  start_group(me, false);
  if (ompt::is_on()) ompt::group_begins(me, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void GOMP_taskgroup_end() {
  thread& me = self();
  ompt::in_sync_region(me, ompt_sync_region_taskgroup, TUTTI_OMPT_CALL_SITE,
                       [&me] { end_group(me); });
}
