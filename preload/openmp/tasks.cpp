// SPDX-License-Identifier: Apache-2.0
// Tasks: one queue for each crew, under one lock. A thread that waits for its children or for a
// group runs those that are queued; a thread at a barrier runs any. Tasks whose predecessors have
// not ended are in no queue.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/core.hpp"

namespace tutti::openmp {

// Which tasks use an address: the last that writes it, and those that have read it since.
struct dependences {
  struct entry {
    task* writer = nullptr;
    std::vector<task*> readers;
  };
  std::unordered_map<const void*, entry> of;
  // The last task that depends on all memory.
  task* of_all = nullptr;
};

namespace {

// The values of GOMP_task's flags.
enum : unsigned {
  flag_final = 2,
  flag_depend = 8,
  flag_priority = 16,
  flag_up = 256,
  flag_grainsize = 512,
  flag_if = 1024,
  flag_nogroup = 2048,
  flag_reduction = 4096,
  flag_detach = 8192,
  flag_strict = 16384,
};

// More tasks for each thread are not queued, but run at once.
constexpr unsigned most_queued = 64;

struct task_with_data : task {
  void* allocated = nullptr;
  alignas(64) std::byte room[192];
};

task& new_task(thread& me) {
  task_with_data* t = nullptr;
  if (me.free_tasks.empty()) {
    t = new task_with_data;
  } else {
    t = static_cast<task_with_data*>(me.free_tasks.back());
    me.free_tasks.pop_back();
  }
  task& parent = *me.now.current;
  t->parent = &parent;
  t->team = me.now.team;
  if (parent.env == &parent.own_env) {
    t->own_env = parent.own_env;
    t->env = &t->own_env;
  } else {
    t->env = parent.env;
  }
  t->group = parent.group;
  t->priority = 0;
  t->is_explicit = true;
  t->is_final = parent.is_final;
  t->is_undeferred = t->awaits_event = t->has_returned = t->is_done = false;
  t->is_cancellable = true;
  // relaxed: nobody else knows the task.
  t->unfinished.store(0, relaxed);
  t->references.store(1, relaxed);
  t->queued = nullptr;
  t->waiter = nullptr;
  t->predecessors = 0;
  t->successors.clear();
  // relaxed: the parent lives.
  if (parent.is_explicit) parent.references.fetch_add(1, relaxed);
  return *t;
}

void drop(thread& me, task* t) {
  if (!t->is_explicit) return;
  // acq_rel: the thread that frees it follows all others that used it.
  if (t->references.fetch_sub(1, acq_rel) != 1) return;
  auto* const whole = static_cast<task_with_data*>(t);
  std::free(whole->allocated);
  whole->allocated = nullptr;
  if (me.free_tasks.size() < 256)
    me.free_tasks.push_back(t);
  else
    delete whole;
}

void forget_dependences(thread& me, task& t) {
  if (t.depends == nullptr) return;
  for (auto& [address, entry] : t.depends->of) {
    if (entry.writer != nullptr) drop(me, entry.writer);
    for (task* const reader : entry.readers) drop(me, reader);
  }
  if (t.depends->of_all != nullptr) drop(me, t.depends->of_all);
  delete t.depends;
  t.depends = nullptr;
}

// ---- queues, under the crew's lock

void insert(task*& head, task& t, link<task> task::*in, bool after_equals) {
  task* previous = nullptr;
  task* next = head;
  while (next != nullptr &&
         (after_equals ? next->priority >= t.priority : next->priority > t.priority)) {
    previous = next;
    next = (next->*in).next;
  }
  (t.*in) = {previous, next, true};
  (previous != nullptr ? (previous->*in).next : head) = &t;
  if (next != nullptr) (next->*in).previous = &t;
}

void remove(task*& head, task& t, link<task> task::*in) {
  link<task>& l = t.*in;
  if (!l.is_linked) return;
  (l.previous != nullptr ? (l.previous->*in).next : head) = l.next;
  if (l.next != nullptr) (l.next->*in).previous = l.previous;
  l = {};
}

void ring_gates(crew& team) {
  team.meeting.ring();
  // relaxed: changed under the same lock.
  if (team.is_cancelled.load(relaxed)) team.after_cancellation.ring();
}

void enqueue(crew& team, task& t) {
  // The tail makes the usual case, equal priorities, one step.
  if (team.queue_tail != nullptr && team.queue_tail->priority >= t.priority) {
    t.in_crew = {team.queue_tail, nullptr, true};
    team.queue_tail->in_crew.next = &t;
    team.queue_tail = &t;
  } else {
    insert(team.queue_head, t, &task::in_crew, true);
    if (t.in_crew.next == nullptr) team.queue_tail = &t;
  }
  ++team.queued;
  insert(t.parent->queued, t, &task::in_parent, false);
  if (t.parent->waiter != nullptr) ring(*t.parent->waiter);
  if (t.group != nullptr) {
    insert(t.group->queued, t, &task::in_group, false);
    if (t.group->waiter != nullptr) ring(*t.group->waiter);
  }
  ring_gates(team);
}

void dequeue(crew& team, task& t) {
  if (team.queue_tail == &t) team.queue_tail = t.in_crew.previous;
  remove(team.queue_head, t, &task::in_crew);
  remove(t.parent->queued, t, &task::in_parent);
  if (t.group != nullptr) remove(t.group->queued, t, &task::in_group);
  --team.queued;
  if (team.queue_head != nullptr) return;
  // relaxed: changed under the same lock. The bell of a cancelled region does not stop.
  if (!team.is_cancelled.load(relaxed)) team.meeting.silence();
  team.after_cancellation.silence();
}

// ---- the life of a task

bool is_cancelled(const task& t) {
  // acquire: pairs with GOMP_cancel.
  if (t.team->is_cancelled.load(acquire)) return true;
  const taskgroup* const g = t.group;
  // acquire: see above.
  return g != nullptr && (g->is_cancelled.load(acquire) || (g->is_of_share && g->outer != nullptr &&
                                                            g->outer->is_cancelled.load(acquire)));
}

// Under the lock. The caller drops the task and its parent afterwards.
void complete(task& t) {
  crew& team = *t.team;
  t.is_done = true;
  for (task* const next : t.successors) {
    if (--next->predecessors != 0) continue;
    if (next->is_undeferred)
      ring(*next->waiter);
    else
      enqueue(team, *next);
  }
  t.successors.clear();
  if (t.is_undeferred) return;
  // release: publishes what the task did; pairs with the look of taskwait.
  if (t.parent->unfinished.fetch_sub(1, release) == 1 && t.parent->waiter != nullptr)
    ring(*t.parent->waiter);
  if (t.group != nullptr && --t.group->unfinished == 0 && t.group->waiter != nullptr)
    ring(*t.group->waiter);
  // seq_cst: puts the end before the look at the gate's tickets; pairs with pass_with_tasks.
  team.unfinished.fetch_sub(1, seq_cst);
}

void finish(thread& me, task& t) {
  crew& team = *t.team;
  forget_dependences(me, t);
  task* const parent = t.parent;
  {
    const locked guard(team.task_lock);
    t.has_returned = true;
    if (t.awaits_event) return;
    complete(t);
  }
  drop(me, &t);
  drop(me, parent);
}

void execute(thread& me, task& t) {
  task* const before = me.now.current;
  if (!(global().can_cancel && t.is_cancellable && is_cancelled(t))) {
    me.now.current = &t;
    t.function(t.data);
    me.now.current = before;
  } else {
    t.awaits_event = false;
  }
  finish(me, t);
}

// Runs queued tasks of a list, and sleeps while there are none, until `is_over`.
template <class IsOver>
void run_until(thread& me, crew& team, task*& queued, thread*& waiter, IsOver is_over) {
  for (;;) {
    task* next = nullptr;
    std::uint32_t seen = 0;
    {
      const locked guard(team.task_lock);
      if (is_over()) {
        waiter = nullptr;
        return;
      }
      next = queued;
      if (next != nullptr) {
        dequeue(team, *next);
      } else {
        waiter = &me;
        // relaxed: changed after this under the lock.
        seen = me.bell.load(relaxed);
      }
    }
    if (next != nullptr)
      execute(me, *next);
    else
      wait_for_bell(me, seen);
  }
}

// ---- dependences

void follow(thread&, task& t, task* predecessor) {
  if (predecessor == nullptr || predecessor == &t || predecessor->is_done) return;
  predecessor->successors.push_back(&t);
  ++t.predecessors;
}

void replace(thread& me, task*& slot, task& t) {
  if (slot == &t) return;
  if (slot != nullptr) drop(me, slot);
  slot = &t;
  // relaxed: the caller holds a reference.
  t.references.fetch_add(1, relaxed);
}

void drop_readers(thread& me, dependences::entry& entry) {
  for (task* const reader : entry.readers) drop(me, reader);
  entry.readers.clear();
}

void add_dependence(thread& me, task& t, dependences& table, const void* address, bool writes) {
  follow(me, t, table.of_all);
  if (address == nullptr && writes) {
    for (auto& [where, entry] : table.of) {
      follow(me, t, entry.writer);
      for (task* const reader : entry.readers) follow(me, t, reader);
    }
    replace(me, table.of_all, t);
    return;
  }
  dependences::entry& entry = table.of[address];
  if (!writes) {
    follow(me, t, entry.writer);
    if (entry.writer == &t) return;
    std::size_t kept = 0;
    for (task* const reader : entry.readers) {
      if (reader->is_done && reader != &t)
        drop(me, reader);
      else
        entry.readers[kept++] = reader;
    }
    entry.readers.resize(kept);
    if (kept != 0 && entry.readers.back() == &t) return;
    entry.readers.push_back(&t);
    // relaxed: the caller holds a reference.
    t.references.fetch_add(1, relaxed);
    return;
  }
  follow(me, t, entry.writer);
  for (task* const reader : entry.readers) follow(me, t, reader);
  drop_readers(me, entry);
  replace(me, entry.writer, t);
}

// Calls use(address, writes) for each entry of a list of dependences, which has two layouts.
template <class Use>
void for_each_dependence(void** list, Use use) {
  auto count = reinterpret_cast<std::uintptr_t>(list[0]);
  std::uintptr_t writing = 0, plain = 0, first = 2;
  if (count != 0) {
    writing = reinterpret_cast<std::uintptr_t>(list[1]);
    plain = count;
  } else {
    count = reinterpret_cast<std::uintptr_t>(list[1]);
    writing = reinterpret_cast<std::uintptr_t>(list[2]) + reinterpret_cast<std::uintptr_t>(list[3]);
    plain = writing + reinterpret_cast<std::uintptr_t>(list[4]);
    first = 5;
  }
  for (std::uintptr_t i = 0; i < count; ++i) {
    void* const address = list[first + i];
    if (i < plain) {
      use(address, i < writing);
    } else {
      void** const object = static_cast<void**>(address);
      constexpr std::uintptr_t kind_in = 1;
      use(object[0], reinterpret_cast<std::uintptr_t>(object[1]) != kind_in);
    }
  }
}

// Under the lock.
void add_dependences(thread& me, task& t, void** list) {
  task& parent = *t.parent;
  if (parent.depends == nullptr) parent.depends = new dependences;
  for_each_dependence(list, [&](const void* address, bool writes) {
    add_dependence(me, t, *parent.depends, address, writes);
  });
}

void* copy_data(task& t, void* data, void (*copy)(void*, void*), long size, long align) {
  auto& whole = static_cast<task_with_data&>(t);
  void* to = whole.room;
  if (size > static_cast<long>(sizeof whole.room) || align > 64) {
    const auto rounded = static_cast<std::size_t>(std::max(align, 16L));
    whole.allocated = std::aligned_alloc(
        rounded, (static_cast<std::size_t>(size) + rounded - 1) / rounded * rounded);
    to = whole.allocated;
  }
  if (copy != nullptr)
    copy(to, data);
  else
    std::memcpy(to, data, static_cast<std::size_t>(size));
  return to;
}

// Runs the task before it returns, once its predecessors have ended.
void run_at_once(thread& me, task& t, void** depend) {
  crew& team = *t.team;
  t.is_undeferred = true;
  t.waiter = &me;
  if (depend != nullptr) {
    {
      const locked guard(team.task_lock);
      add_dependences(me, t, depend);
    }
    thread* unused = nullptr;
    run_until(me, team, t.parent->queued, unused, [&t] { return t.predecessors == 0; });
  }
  task* const before = me.now.current;
  me.now.current = &t;
  t.function(t.data);
  me.now.current = before;
  if (t.awaits_event) {
    // omp_fulfill_event rings.
    for (;;) {
      // acquire: pairs with ring.
      const std::uint32_t seen = me.bell.load(acquire);
      {
        const locked guard(team.task_lock);
        if (!t.awaits_event) break;
        t.waiter = &me;
      }
      wait_for_bell(me, seen);
    }
  }
  forget_dependences(me, t);
  task* const parent = t.parent;
  {
    const locked guard(team.task_lock);
    complete(t);
  }
  drop(me, &t);
  drop(me, parent);
}

bool is_included(const thread& me, bool if_clause) {
  const crew& team = *me.now.team;
  return !if_clause || me.now.current->is_final ||
         // relaxed: a hint.
         team.unfinished.load(relaxed) > most_queued * team.size;
}

void count_child(task& t) {
  // relaxed: the lock orders them.
  t.parent->unfinished.fetch_add(1, relaxed);
  if (t.group != nullptr) ++t.group->unfinished;
  t.team->unfinished.fetch_add(1, relaxed);
}

void submit(thread& me, task& t, void** depend) {
  crew& team = *t.team;
  // A crew whose gate does not wait for tasks cannot defer them. A task for which something must
  // happen first is deferred in any case, and its parent waits for it.
  const bool defers = team.has_tasks && team.size > 1;
  {
    const locked guard(team.task_lock);
    count_child(t);
    if (depend != nullptr) add_dependences(me, t, depend);
    if (t.predecessors != 0) return;
    if (defers) return enqueue(team, t);
  }
  execute(me, t);
}

}  // namespace

task& implicit_task(crew& team, unsigned rank) { return *team.implicit[rank]; }

void init_implicit(task& t, crew& team, const context& outer) {
  t.parent = outer.current;
  t.team = &team;
  t.env = &team.env;
  t.group = team.group;
  // relaxed: the rank itself, and children that it makes later, use it.
  t.unfinished.store(0, relaxed);
  t.queued = nullptr;
  t.waiter = nullptr;
  t.is_final = false;
}

void end_implicit(thread& me, task& t) { forget_dependences(me, t); }

void run_tasks_of_crew(thread& me) {
  crew& team = *me.now.team;
  for (;;) {
    task* next = nullptr;
    {
      const locked guard(team.task_lock);
      next = team.queue_head;
      if (next == nullptr) {
        // relaxed: changed under the same lock.
        if (!team.is_cancelled.load(relaxed)) team.meeting.silence();
        team.after_cancellation.silence();
        return;
      }
      dequeue(team, *next);
    }
    execute(me, *next);
  }
}

// ---- groups

void start_group(thread& me, bool is_of_share) {
  auto* const g = new taskgroup;
  g->outer = me.now.current->group;
  g->is_of_share = is_of_share;
  g->reductions = g->outer != nullptr ? g->outer->reductions : nullptr;
  me.now.current->group = g;
}

void end_group(thread& me) {
  task& current = *me.now.current;
  taskgroup* const g = current.group;
  if (g == nullptr) return;
  run_until(me, *current.team, g->queued, g->waiter, [g] { return g->unfinished == 0; });
  current.group = g->outer;
  delete g;
}

// ---- reductions over tasks

// The layout of `data` is the compiler's: the number of variables, bytes for each thread, alignment
// (then the memory), an allocator, the next such array, two words for the runtime (the second is
// the end of the memory), and three words for each variable: its address, its offset, one for the
// runtime.
void register_reductions(std::uintptr_t* data, std::uintptr_t* old, const std::uintptr_t* of_other,
                         unsigned threads) {
  for (std::uintptr_t* d = data;;) {
    if (of_other != nullptr) {
      d[2] = of_other[2];
      d[6] = of_other[6];
      of_other = reinterpret_cast<const std::uintptr_t*>(of_other[4]);
    } else {
      const std::uintptr_t align = std::max<std::uintptr_t>(d[2], sizeof(void*));
      const std::uintptr_t bytes = (d[1] * threads + align - 1) / align * align;
      void* const memory = std::aligned_alloc(align, bytes);
      if (memory == nullptr) fatal("Out of memory allocating %lu bytes", bytes);
      std::memset(memory, 0, bytes);
      d[2] = reinterpret_cast<std::uintptr_t>(memory);
      d[6] = d[2] + d[1] * threads;
    }
    d[5] = d == data ? 1 : 0;
    if (d[4] == 0) {
      d[4] = reinterpret_cast<std::uintptr_t>(old);
      return;
    }
    d = reinterpret_cast<std::uintptr_t*>(d[4]);
  }
}

void unregister_reductions(std::uintptr_t* data) {
  auto* d = data;
  do {
    std::free(reinterpret_cast<void*>(d[2]));
    d = reinterpret_cast<std::uintptr_t*>(d[4]);
  } while (d != nullptr && d[5] == 0);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;
using tutti::acquire;
using tutti::relaxed;

TUTTI_OMP void GOMP_task(region_function function, void* data, void (*copy)(void*, void*),
                         long size, long align, bool if_clause, unsigned flags, void** depend,
                         int priority, void* detach) {
  thread& me = self();
  note_tasks();
  if (global().can_cancel && is_cancelled(*me.now.current)) return;
  task& t = new_task(me);
  t.function = function;
  t.is_final = (flags & flag_final) != 0 || t.is_final;
  if ((flags & flag_priority) != 0)
    t.priority = std::clamp(priority, 0, global().max_task_priority);
  if ((flags & flag_depend) == 0) depend = nullptr;
  if ((flags & flag_detach) != 0) {
    t.awaits_event = true;
    *static_cast<task**>(detach) = &t;
    // The compiler lets the data begin with the event.
    if (data != nullptr) *static_cast<task**>(data) = &t;
  }
  const bool at_once = is_included(me, if_clause);
  if (at_once && copy == nullptr)
    t.data = data;
  else
    t.data = copy_data(t, data, copy, size, align);
  t.is_cancellable = copy == nullptr;
  if (at_once)
    run_at_once(me, t, depend);
  else
    submit(me, t, depend);
}

TUTTI_OMP void GOMP_taskwait() {
  thread& me = self();
  task& current = *me.now.current;
  // acquire: pairs with the ends of the children.
  if (current.unfinished.load(acquire) == 0) return;
  run_until(me, *current.team, current.queued, current.waiter, [&current] {
    // relaxed: the lock orders it.
    return current.unfinished.load(relaxed) == 0;
  });
}

namespace {
void nothing(void*) {}
}  // namespace

TUTTI_OMP void GOMP_taskwait_depend(void** depend) {
  thread& me = self();
  if (me.now.current->depends == nullptr) return;
  task& t = new_task(me);
  t.function = nothing;
  run_at_once(me, t, depend);
}

TUTTI_OMP void GOMP_taskwait_depend_nowait(void** depend) {
  char none = 0;
  GOMP_task(nothing, &none, nullptr, 0, 1, true, flag_depend, depend, 0, nullptr);
}

TUTTI_OMP void GOMP_taskyield() {}
TUTTI_OMP void GOMP_taskgroup_start() { start_group(self(), false); }
TUTTI_OMP void GOMP_taskgroup_end() { end_group(self()); }

TUTTI_OMP void GOMP_taskgroup_reduction_register(std::uintptr_t* data) {
  thread& me = self();
  // A group that nothing has begun: an orphaned construct.
  if (me.now.current->group == nullptr) start_group(me, false);
  taskgroup& group = *me.now.current->group;
  register_reductions(data, group.reductions, nullptr, me.now.team->size);
  group.reductions = data;
}

TUTTI_OMP void GOMP_taskgroup_reduction_unregister(std::uintptr_t* data) {
  unregister_reductions(data);
}

TUTTI_OMP void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
  thread& me = self();
  std::uintptr_t* const data = me.now.current->group->reductions;
  end_group(me);
  if (me.now.rank == 0) unregister_reductions(data);
  if (!is_cancelled) meet(me, false);
}

TUTTI_OMP void GOMP_task_reduction_remap(std::size_t count, std::size_t originals,
                                         void** pointers) {
  thread& me = self();
  const std::uintptr_t rank = me.now.rank;
  auto* const newest = me.now.current->group->reductions;
  for (std::size_t i = 0; i < count; ++i) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(pointers[i]);
    bool is_found = false;
    for (auto* d = newest; d != nullptr && !is_found; d = reinterpret_cast<std::uintptr_t*>(d[4])) {
      const bool is_copy = wanted >= d[2] && wanted < d[6];
      const std::uintptr_t offset = is_copy ? (wanted - d[2]) % d[1] : 0;
      for (std::uintptr_t j = 0; j < d[0] && !is_found; ++j) {
        const std::uintptr_t* const variable = d + 7 + 3 * j;
        if (is_copy ? variable[1] != offset : variable[0] != wanted) continue;
        is_found = true;
        pointers[i] = reinterpret_cast<void*>(d[2] + rank * d[1] + variable[1]);
        if (i < originals) pointers[count + i] = reinterpret_cast<void*>(variable[0]);
      }
      if (is_copy && !is_found && i >= originals) {
        is_found = true;
        pointers[i] = reinterpret_cast<void*>(d[2] + rank * d[1] + offset);
      }
    }
    if (!is_found)
      fatal("couldn't find matching task_reduction or reduction with task modifier for %p",
            pointers[i]);
  }
}

TUTTI_OMP void omp_fulfill_event(task* event) {
  thread& me = self();
  task& t = *event;
  crew& team = *t.team;
  task* const parent = t.parent;
  {
    const locked guard(team.task_lock);
    if (!t.awaits_event)
      fatal("omp_fulfill_event: %p event is invalid or has already been fulfilled!",
            static_cast<void*>(event));
    t.awaits_event = false;
    if (t.is_undeferred) {
      if (t.waiter != nullptr) ring(*t.waiter);
      return;
    }
    if (!t.has_returned) return;
    complete(t);
    // The last rank at a barrier waits for this task.
    ring_gates(team);
  }
  drop(me, &t);
  drop(me, parent);
}
TUTTI_OMP void omp_fulfill_event_(task** event) { omp_fulfill_event(*event); }

TUTTI_OMP int omp_in_final() { return self().now.current->is_final ? 1 : 0; }
TUTTI_OMP int omp_in_final_() { return omp_in_final(); }
TUTTI_OMP int omp_in_explicit_task() { return self().now.current->is_explicit ? 1 : 0; }
TUTTI_OMP int omp_in_explicit_task_() { return omp_in_explicit_task(); }

// ---- taskloop

namespace {

template <class Value>
void taskloop(region_function function, void* data, void (*copy)(void*, void*), long size,
              long align, unsigned flags, unsigned long tasks, int priority, Value first,
              std::uint64_t count, Value step) {
  thread& me = self();
  note_tasks();
  if (count == 0 || (global().can_cancel && is_cancelled(*me.now.current))) return;
  std::uint64_t share = count, rest = 0, pieces = 1;
  if ((flags & flag_grainsize) != 0) {
    const std::uint64_t grain = std::max(1ul, tasks);
    if ((flags & flag_strict) != 0) {
      pieces = (count - 1) / grain + 1;
      share = grain;
    } else {
      pieces = std::max<std::uint64_t>(1, count / grain);
    }
  } else {
    pieces = std::min<std::uint64_t>(count, tasks != 0 ? tasks : me.now.team->size);
    if ((flags & flag_strict) != 0) {
      share = (count - 1) / pieces + 1;
      pieces = (count - 1) / share + 1;
    }
  }
  if ((flags & flag_strict) == 0) {
    share = count / pieces;
    rest = count % pieces;
  }
  if ((flags & flag_nogroup) == 0) start_group(me, false);
  if ((flags & flag_reduction) != 0) {
    struct of_compiler {
      Value first, last;
      std::uintptr_t* reductions;
    };
    taskgroup& group = *me.now.current->group;
    std::uintptr_t* const reductions = static_cast<of_compiler*>(data)->reductions;
    register_reductions(reductions, group.reductions, nullptr, me.now.team->size);
    group.reductions = reductions;
  }
  std::uint64_t done = 0;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    const std::uint64_t mine = std::min(count - done, share + (i < rest ? 1 : 0));
    task& t = new_task(me);
    t.function = function;
    t.is_final = (flags & flag_final) != 0 || t.is_final;
    if ((flags & flag_priority) != 0)
      t.priority = std::clamp(priority, 0, global().max_task_priority);
    const bool at_once = is_included(me, (flags & flag_if) != 0);
    t.data = copy_data(t, data, copy, size, align);
    t.is_cancellable = copy == nullptr;
    static_cast<Value*>(t.data)[0] = first + static_cast<Value>(done) * step;
    done += mine;
    static_cast<Value*>(t.data)[1] = first + static_cast<Value>(done) * step;
    if (at_once)
      run_at_once(me, t, nullptr);
    else
      submit(me, t, nullptr);
  }
  if ((flags & flag_nogroup) == 0) end_group(me);
}

}  // namespace

TUTTI_OMP void GOMP_taskloop(region_function function, void* data, void (*copy)(void*, void*),
                             long size, long align, unsigned flags, unsigned long tasks,
                             int priority, long first, long end, long step) {
  std::uint64_t count = 0;
  if (step > 0 && first < end)
    count = (static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(first) - 1) /
                static_cast<std::uint64_t>(step) +
            1;
  if (step < 0 && first > end)
    count = (static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(end) - 1) /
                (0 - static_cast<std::uint64_t>(step)) +
            1;
  taskloop<std::uint64_t>(function, data, copy, size, align, flags, tasks, priority,
                          static_cast<std::uint64_t>(first), count,
                          static_cast<std::uint64_t>(step));
}

TUTTI_OMP void GOMP_taskloop_ull(region_function function, void* data, void (*copy)(void*, void*),
                                 long size, long align, unsigned flags, unsigned long tasks,
                                 int priority, unsigned long long first, unsigned long long end,
                                 unsigned long long step) {
  std::uint64_t count = 0;
  if ((flags & flag_up) != 0 && first < end) count = (end - first - 1) / step + 1;
  if ((flags & flag_up) == 0 && first > end) count = (first - end - 1) / (0 - step) + 1;
  taskloop<std::uint64_t>(function, data, copy, size, align, flags, tasks, priority, first, count,
                          step);
}
