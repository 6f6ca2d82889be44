// SPDX-License-Identifier: Apache-2.0
// Clang's interface: tasks and loops of tasks.
#include <cstdlib>
#include <cstring>

#include "preload/openmp/environment.hpp"
#include "preload/openmp/kmpc.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"

using namespace tutti::openmp;

namespace {

// The layout is the compiler's; the task's private variables follow.
struct clang_task {
  void* shared;
  int (*routine)(int thread, clang_task*);
  int part;
  union {
    int priority;
    int (*destroy)(int thread, clang_task*);
  } first, second;
};
static_assert(sizeof(clang_task) == 40);

// Stands in front of it.
struct alignas(16) header {
  task* of;
  std::size_t task_bytes;
  std::size_t shared_bytes;
  unsigned flags;
};

enum : unsigned {
  is_tied = 1,
  is_final = 2,
  is_mergeable = 4,
  has_destructors = 8,
  is_proxy = 16,
  has_priority = 32,
  // Not of clang: an untied task asked to go on.
  goes_on = 1u << 16,
};

struct clang_dependence {
  const void* address;
  std::size_t bytes;
  std::uint8_t flags;
};

clang_task& data_of(header& h) { return *reinterpret_cast<clang_task*>(&h + 1); }
header& header_of(clang_task* t) { return reinterpret_cast<header*>(t)[-1]; }

// An untied task returns at each scheduling point, after it has queued itself. It goes on at once,
// on the same thread.
void go_on(header& h, int number) {
  clang_task& t = data_of(h);
  while ((h.flags & goes_on) != 0) {
    h.flags &= ~goes_on;
    t.routine(number, &t);
  }
  if ((h.flags & has_destructors) != 0) t.first.destroy(number, &t);
}

// What a task does that has destructors and is discarded.
void destroy(void* raw) {
  clang_task& t = data_of(*static_cast<header*>(raw));
  t.first.destroy(self().number, &t);
}

void run(void* raw) {
  header& h = *static_cast<header*>(raw);
  h.flags |= goes_on;
  go_on(h, self().number);
}

header& make(thread& me, unsigned flags, std::size_t task_bytes, std::size_t shared_bytes,
             int (*routine)(int, clang_task*)) {
  note_tasks();
  task& t = new_task(me);
  task_bytes = (task_bytes + 15) / 16 * 16;
  auto& h = *static_cast<header*>(
      room_for_data(t, static_cast<long>(sizeof(header) + task_bytes + shared_bytes), 16));
  h = {&t, task_bytes, shared_bytes, flags};
  clang_task& data = data_of(h);
  data = {};
  data.routine = routine;
  data.shared = shared_bytes != 0 ? reinterpret_cast<std::byte*>(&data) + task_bytes : nullptr;
  t.function = run;
  t.data = &h;
  t.is_final = t.is_final || (flags & is_final) != 0;
  if ((flags & has_destructors) != 0) t.destroy = destroy;
  t.is_detachable = t.awaits_event = (flags & is_proxy) != 0;
  return h;
}

void set_priority(task& t, const header& h, const clang_task& data) {
  if ((h.flags & has_priority) != 0)
    t.priority = std::clamp(data.second.priority, 0, global().max_task_priority);
}

std::span<const dependence> list_of(thread& me, int count, const clang_dependence* first, int more,
                                    const clang_dependence* others) {
  std::vector<dependence>& all = me.dependences_of_next;
  all.clear();
  const auto add = [&all](const clang_dependence& d) {
    constexpr std::uint8_t in = 1, mutex = 4, everything = 0x80;
    // An address of zero is all memory for this runtime.
    const void* const address = (d.flags & everything) != 0 ? nullptr
                                : d.address != nullptr
                                    ? d.address
                                    : reinterpret_cast<const void*>(std::uintptr_t{1});
    all.push_back({address, d.flags != in, d.flags == mutex});
  };
  for (int i = 0; i < count; ++i) add(first[i]);
  for (int i = 0; i < more; ++i) add(others[i]);
  return all;
}

[[gnu::cold, gnu::noinline]] void report_task(thread& me, const header& h, bool at_once,
                                              std::span<const dependence> list,
                                              ompt::call_site at) {
  ompt::task_created(me, *h.of,
                     ((h.flags & is_tied) == 0 ? ompt_task_untied : 0) |
                         ((h.flags & is_mergeable) != 0 ? ompt_task_mergeable : 0) |
                         (at_once ? ompt_task_undeferred : 0),
                     list, at);
}

int start(thread& me, clang_task* data, std::span<const dependence> list, ompt::call_site at) {
  header& h = header_of(data);
  task& t = *h.of;
  if (me.now.current == &t) {
    h.flags |= goes_on;
    return 0;
  }
  set_priority(t, h, *data);
  const bool waits = t.is_detachable || !list.empty();
  // One whose event the program may know ends as the others that are queued.
  const bool ends_here = !t.is_detachable && is_discarded(t);
  const bool at_once = is_included(me, true, waits) || (!waits && learns_sizes(me));
  if (ompt::is_on()) report_task(me, h, at_once, list, at);
  if (ends_here)
    discard(me, t);
  else if (at_once)
    run_at_once(me, t, list);
  else
    submit(me, t, list);
  return 0;
}

}  // namespace

TUTTI_KMPC clang_task* __kmpc_omp_task_alloc(source_place*, int, unsigned flags,
                                             std::size_t task_bytes, std::size_t shared_bytes,
                                             int (*routine)(int, clang_task*)) {
  return &data_of(make(self(), flags, task_bytes, shared_bytes, routine));
}

// The task of a target region, which runs on the host.
TUTTI_KMPC clang_task* __kmpc_omp_target_task_alloc(source_place*, int, unsigned flags,
                                                    std::size_t task_bytes,
                                                    std::size_t shared_bytes,
                                                    int (*routine)(int, clang_task*),
                                                    std::int64_t) {
  return &data_of(make(self(), flags & ~is_proxy, task_bytes, shared_bytes, routine));
}

TUTTI_KMPC int __kmpc_omp_task(source_place*, int, clang_task* t) {
  return start(self(), t, {}, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC int __kmpc_omp_task_parts(source_place*, int, clang_task* t) {
  return start(self(), t, {}, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC int __kmpc_omp_task_with_deps(source_place*, int, clang_task* t, int count,
                                         clang_dependence* list, int more,
                                         clang_dependence* others) {
  thread& me = self();
  return start(me, t, list_of(me, count, list, more, others), TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_omp_wait_deps(source_place*, int, int count, clang_dependence* list,
                                     int more, clang_dependence* others) {
  thread& me = self();
  wait_for_dependences(me, list_of(me, count, list, more, others), TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC int __kmpc_omp_reg_task_with_affinity(source_place*, int, clang_task*, int, void*) {
  return 0;
}

// The compiled code runs the task between these two calls.
TUTTI_KMPC void __kmpc_omp_task_begin_if0(source_place*, int, clang_task* data) {
  task& t = *header_of(data).of;
  t.is_undeferred = true;
  thread& me = self();
  if (ompt::is_on()) {
    report_task(me, header_of(data), true, {}, TUTTI_OMPT_CALL_SITE);
    ompt::task_switch(me, *me.now.current, ompt_task_switch, &t);
  }
  me.now.current = &t;
}
TUTTI_KMPC void __kmpc_omp_task_complete_if0(source_place*, int, clang_task* data) {
  thread& me = self();
  header& h = header_of(data);
  task& t = *h.of;
  go_on(h, me.number);
  task* const parent = t.parent;
  if (ompt::is_on()) ompt::task_switch(me, t, ompt_task_complete, parent);
  me.now.current = parent;
  end_at_once(me, t);
}

TUTTI_KMPC int __kmpc_omp_taskwait(source_place*, int) {
  thread& me = self();
  ompt::in_sync_region(me, ompt_sync_region_taskwait, TUTTI_OMPT_CALL_SITE,
                       [&me] { wait_for_children(me); });
  return 0;
}
// Programs poll for something that a queued task may bring about. libgomp's function does nothing.
TUTTI_KMPC int __kmpc_omp_taskyield(source_place*, int, int) {
  thread& me = self();
  const task& current = *me.now.current;
  const bool is_tied = current.is_explicit && current.function == run &&
                       (static_cast<const header*>(current.data)->flags & ::is_tied) != 0;
  if (task* const t = take_task(me, *me.now.team, is_tied ? &current : nullptr)) execute(me, *t);
  return 0;
}
// Clang 16 and later ones call it for `taskwait depend`.
TUTTI_KMPC void __kmpc_omp_taskwait_deps_51(source_place* place, int number, int count,
                                            clang_dependence* list, int more,
                                            clang_dependence* others, int is_nowait) {
  if (is_nowait == 0) return __kmpc_omp_wait_deps(place, number, count, list, more, others);
  thread& me = self();
  header& h = make(me, ::is_tied, sizeof(clang_task), 0, [](int, clang_task*) { return 0; });
  start(me, &data_of(h), list_of(me, count, list, more, others), TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC int __kmpc_omp_has_task_team(int) { return self().now.team->size > 1 ? 1 : 0; }

// The numbers are those of the objects of tasks that have not ended.
TUTTI_KMPC std::uint64_t __kmpc_get_taskid() {
  return reinterpret_cast<std::uint64_t>(self().now.current);
}
TUTTI_KMPC std::uint64_t __kmpc_get_parent_taskid() {
  return reinterpret_cast<std::uint64_t>(self().now.current->parent);
}

TUTTI_KMPC task* __kmpc_task_allow_completion_event(source_place*, int, clang_task* data) {
  task& t = *header_of(data).of;
  t.is_detachable = t.awaits_event = true;
  return &t;
}

// A proxy task ends when the program says so, on a thread of the team or on any other one.
TUTTI_KMPC void __kmpc_proxy_task_completed(int, clang_task* data) {
  fulfill(self(), *header_of(data).of);
}
TUTTI_KMPC void __kmpc_proxy_task_completed_ooo(clang_task* data) {
  fulfill(self(), *header_of(data).of);
}

// ---- loops of tasks

namespace {

using duplicate = void (*)(clang_task* to, clang_task* from, int is_last);

header& copy_of(thread& me, header& h) {
  header& copy = make(me, h.flags, h.task_bytes, h.shared_bytes, data_of(h).routine);
  clang_task& to = data_of(copy);
  void* const shared = to.shared;
  std::memcpy(&to, &data_of(h), h.task_bytes + h.shared_bytes);
  to.shared = shared;
  copy.of->is_final = copy.of->is_final || h.of->is_final;
  return copy;
}

void taskloop(clang_task* data, bool is_parallel, std::uint64_t* lower, std::uint64_t* upper,
              std::int64_t step, bool has_group, int kind, std::uint64_t amount, bool is_strict,
              duplicate fill, ompt::call_site site) {
  thread& me = self();
  header& h = header_of(data);
  set_priority(*h.of, h, *data);
  const auto low = static_cast<std::int64_t>(*lower), high = static_cast<std::int64_t>(*upper);
  std::uint64_t count = 0;
  if (step > 0 && low <= high)
    count = (*upper - *lower) / static_cast<std::uint64_t>(step) + 1;
  else if (step < 0 && low >= high)
    count = (*lower - *upper) / (0 - static_cast<std::uint64_t>(step)) + 1;
  if (is_discarded(*h.of)) count = 0;
  if (has_group) start_group(me, false);
  if (ompt::is_on()) {
    ompt::work_event(me, ompt_work_taskloop, ompt_scope_begin, count, site);
    if (has_group) ompt::group_begins(me, site);
  }
  const auto offset_of = [data](std::uint64_t* bound) {
    return reinterpret_cast<std::byte*>(bound) - reinterpret_cast<std::byte*>(data);
  };
  const std::ptrdiff_t lower_at = offset_of(lower), upper_at = offset_of(upper);
  constexpr int of_grains = 1, of_tasks = 2;
  const taskloop_pieces all =
      count == 0
          ? taskloop_pieces{.pieces = 0}
          : divide_taskloop(count, kind == of_grains ? std::max<std::uint64_t>(amount, 1) : 0,
                            kind == of_tasks ? amount : 0, is_strict, me.now.team->size);
  std::uint64_t done = 0;
  for (std::uint64_t i = 0; i < all.pieces; ++i) {
    header& piece = copy_of(me, h);
    task& t = *piece.of;
    t.priority = h.of->priority;
    auto* const at = reinterpret_cast<std::byte*>(&data_of(piece));
    const std::uint64_t from = *lower + done * static_cast<std::uint64_t>(step);
    done += all.size_of(i, done);
    const std::uint64_t to = *lower + (done - 1) * static_cast<std::uint64_t>(step);
    std::memcpy(at + lower_at, &from, sizeof from);
    std::memcpy(at + upper_at, &to, sizeof to);
    if (fill != nullptr) fill(&data_of(piece), data, i + 1 == all.pieces ? 1 : 0);
    const bool at_once =
        is_included(me, is_parallel, false) || (i + 1 == all.pieces && learns_sizes(me));
    if (ompt::is_on()) report_task(me, piece, at_once, {}, site);
    if (is_discarded(t))
      discard(me, t);
    else if (at_once)
      run_at_once(me, t, {});
    else
      submit(me, t, {});
  }
  if ((h.flags & has_destructors) != 0) data->first.destroy(me.number, data);
  end_life(me, *h.of);
  if (has_group)
    ompt::in_sync_region(me, ompt_sync_region_taskgroup, site, [&me] { end_kmpc_group(me); });
  if (ompt::is_on()) ompt::work_event(me, ompt_work_taskloop, ompt_scope_end, count, site);
}

}  // namespace

TUTTI_KMPC void __kmpc_taskloop(source_place*, int, clang_task* t, int if_clause,
                                std::uint64_t* lower, std::uint64_t* upper, std::int64_t step,
                                int no_group, int kind, std::uint64_t amount, void* fill) {
  taskloop(t, if_clause != 0, lower, upper, step, no_group == 0, kind, amount, false,
           reinterpret_cast<duplicate>(fill), TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_taskloop_5(source_place*, int, clang_task* t, int if_clause,
                                  std::uint64_t* lower, std::uint64_t* upper, std::int64_t step,
                                  int no_group, int kind, std::uint64_t amount, int is_strict,
                                  void* fill) {
  taskloop(t, if_clause != 0, lower, upper, step, no_group == 0, kind, amount, is_strict != 0,
           reinterpret_cast<duplicate>(fill), TUTTI_OMPT_CALL_SITE);
}
