// SPDX-License-Identifier: Apache-2.0
#include "preload/openmp/ompt/events.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "preload/openmp/barrier.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/teams.hpp"

namespace tutti::openmp::ompt {
namespace {

ompt_data_t* data_of(thread& me) { return &part_of(*me.now.current).data; }
ompt_data_t* data_of(const omp_team& team) { return &const_cast<omp_team&>(team).tool.data; }
ompt_wait_id_t id_of(const void* mutex) { return reinterpret_cast<std::uintptr_t>(mutex); }

void begin_part(task& t, int flags) {
  task_part& part = part_of(t);
  part = {};
  part.flags = flags;
}

// The runtime's frame on the stack of the current task, while a callback may ask for it.
class entered {
 public:
  entered(thread& me, call_site at) : frame_(part_of(*me.now.current).frame), before_(frame_) {
    frame_.enter_frame.ptr = at.frame;
    frame_.enter_frame_flags = frame_flags;
  }
  ~entered() {
    frame_.enter_frame = before_.enter_frame;
    frame_.enter_frame_flags = before_.enter_frame_flags;
  }
  entered(const entered&) = delete;
  entered& operator=(const entered&) = delete;

 private:
  ompt_frame_t& frame_;
  ompt_frame_t before_;
};

int state_outside(const thread& me) {
  return me.now.level == 0 ? ompt_state_work_serial : ompt_state_work_parallel;
}

int state_of(ompt_sync_region_t kind) {
  switch (kind) {
    case ompt_sync_region_barrier_implicit_parallel:
      return ompt_state_wait_barrier_implicit_parallel;
    case ompt_sync_region_barrier_implicit_workshare:
      return ompt_state_wait_barrier_implicit_workshare;
    case ompt_sync_region_barrier_explicit: return ompt_state_wait_barrier_explicit;
    case ompt_sync_region_taskwait: return ompt_state_wait_taskwait;
    case ompt_sync_region_taskgroup: return ompt_state_wait_taskgroup;
    default: return ompt_state_wait_barrier_implementation;
  }
}

int state_of(ompt_mutex_t kind) {
  switch (kind) {
    case ompt_mutex_critical: return ompt_state_wait_critical;
    case ompt_mutex_atomic: return ompt_state_wait_atomic;
    case ompt_mutex_ordered: return ompt_state_wait_ordered;
    default: return ompt_state_wait_lock;
  }
}

}  // namespace

task_part& part_of(task& t) {
  if (t.tool == nullptr) t.tool = new task_part;
  return *t.tool;
}

void forget_part(task& t) { delete std::exchange(t.tool, nullptr); }

// ---- threads and regions

void thread_begins(thread& me) {
  me.tool.state = ompt_state_overhead;
  report<ompt_callback_thread_begin_t>(me, ompt_callback_thread_begin,
                                       me.tool.is_worker ? ompt_thread_worker : ompt_thread_initial,
                                       &me.tool.data);
  if (me.tool.is_worker) {
    me.tool.state = ompt_state_idle;
    return;
  }
  begin_part(*me.now.current, ompt_task_initial);
  report<ompt_callback_implicit_task_t>(me, ompt_callback_implicit_task, ompt_scope_begin,
                                        data_of(*me.now.team), data_of(me), 1u, 1u,
                                        int{ompt_task_initial});
  me.tool.state = ompt_state_work_serial;
}

void thread_ends(thread& me) {
  me.tool.state = ompt_state_overhead;
  if (!me.tool.is_worker && me.depth == 0)
    report<ompt_callback_implicit_task_t>(me, ompt_callback_implicit_task, ompt_scope_end,
                                          static_cast<ompt_data_t*>(nullptr), data_of(me), 0u, 1u,
                                          int{ompt_task_initial});
  report<ompt_callback_thread_end_t>(me, ompt_callback_thread_end, &me.tool.data);
  me.tool.state = ompt_state_undefined;
}

void region_begins(thread& me, omp_team& team, unsigned requested, int flags, call_site at) {
  team.tool = {{}, flags, at};
  // It stays until the region ends.
  ompt_frame_t& frame = part_of(*me.now.current).frame;
  frame.enter_frame.ptr = at.frame;
  frame.enter_frame_flags = frame_flags;
  report<ompt_callback_parallel_begin_t>(me, ompt_callback_parallel_begin, data_of(me),
                                         static_cast<const ompt_frame_t*>(&frame), &team.tool.data,
                                         requested, flags, at.code);
}

void region_ends(thread& me, omp_team& team) {
  report<ompt_callback_parallel_end_t>(me, ompt_callback_parallel_end, &team.tool.data, data_of(me),
                                       team.tool.flags, team.tool.opened_at.code);
  ompt_frame_t& frame = part_of(*me.now.current).frame;
  frame.enter_frame = {};
  frame.enter_frame_flags = 0;
  me.tool.state = state_outside(me);
}

void implicit_task_begins(thread& me, void* frame) {
  omp_team& team = *me.now.team;
  begin_part(*me.now.current, ompt_task_implicit);
  part_of(*me.now.current).rank = me.now.rank;
  ompt_frame_t& f = part_of(*me.now.current).frame;
  f.exit_frame.ptr = frame;
  f.exit_frame_flags = frame_flags;
  me.tool.state = ompt_state_work_parallel;
  report<ompt_callback_implicit_task_t>(me, ompt_callback_implicit_task, ompt_scope_begin,
                                        data_of(team), data_of(me), team.size, me.now.rank,
                                        int{ompt_task_implicit});
  // A combined region such as `parallel for` begins with a construct.
  if (me.now.last_workshare != &team.root)
    work_begins(me, me.now.last_workshare->is_sections ? ompt_work_sections : ompt_work_loop,
                me.now.last_workshare->count, team.tool.opened_at);
}

void end_implicit_task(thread& me) {
  {
    const sync_region region(me, ompt_sync_region_barrier_implicit_parallel,
                             me.now.team->tool.opened_at);
    wait_at_end_with_tasks(me);
  }
  report<ompt_callback_implicit_task_t>(me, ompt_callback_implicit_task, ompt_scope_end,
                                        static_cast<ompt_data_t*>(nullptr), data_of(me), 0u,
                                        me.now.rank, int{ompt_task_implicit});
  me.tool.state = me.tool.is_worker ? ompt_state_idle : ompt_state_overhead;
}

// ---- constructs

void work_event(thread& me, ompt_work_t kind, ompt_scope_endpoint_t endpoint, std::uint64_t count,
                call_site at) {
  report<ompt_callback_work_t>(me, ompt_callback_work, kind, endpoint, data_of(*me.now.team),
                               data_of(me), count, at.code);
}

void work_begins(thread& me, int kind, std::uint64_t count, call_site at) {
  work_ends(me, at);
  task_part& part = part_of(*me.now.current);
  part.work = kind;
  part.work_at = at;
  work_event(me, static_cast<ompt_work_t>(kind), ompt_scope_begin, count, at);
}

void work_ends(thread& me, call_site at) {
  const int kind = std::exchange(part_of(*me.now.current).work, 0);
  if (kind != 0) work_event(me, static_cast<ompt_work_t>(kind), ompt_scope_end, 0, at);
}

void masked_event(thread& me, ompt_scope_endpoint_t endpoint, call_site at) {
  report<ompt_callback_masked_t>(me, ompt_callback_masked, endpoint, data_of(*me.now.team),
                                 data_of(me), at.code);
}

void reduction_event(thread& me, ompt_scope_endpoint_t endpoint, call_site at) {
  me.tool.state = endpoint == ompt_scope_begin ? int{ompt_state_work_reduction} : state_outside(me);
  report<ompt_callback_sync_region_t>(me, ompt_callback_reduction, ompt_sync_region_reduction,
                                      endpoint, data_of(*me.now.team), data_of(me), at.code);
}

void flush_event(thread& me, call_site at) {
  report<ompt_callback_flush_t>(me, ompt_callback_flush, &me.tool.data, at.code);
}

void group_begins(thread& me, call_site at) {
  report<ompt_callback_sync_region_t>(me, ompt_callback_sync_region, ompt_sync_region_taskgroup,
                                      ompt_scope_begin, data_of(*me.now.team), data_of(me),
                                      at.code);
}

void cancel_event(thread& me, task& of, int flags, call_site at) {
  report<ompt_callback_cancel_t>(me, ompt_callback_cancel, &part_of(of).data, flags, at.code);
}

void error_event(thread& me, ompt_severity_t severity, const char* message, std::size_t length,
                 call_site at) {
  report<ompt_callback_error_t>(me, ompt_callback_error, severity, message, length, at.code);
}

// The parallel region may have ended when a thread leaves its barrier.
void sync_region::say(ompt_callbacks_t event, ompt_scope_endpoint_t endpoint) const {
  const bool may_have_ended =
      kind_ == ompt_sync_region_barrier_implicit_parallel && endpoint == ompt_scope_end;
  report<ompt_callback_sync_region_t>(
      me_, event, kind_, endpoint,
      may_have_ended ? static_cast<ompt_data_t*>(nullptr) : data_of(*me_.now.team), data_of(me_),
      at_.code);
}

sync_region::sync_region(thread& me, ompt_sync_region_t kind, call_site at)
    : me_(me), kind_(kind), at_(at), state_before_(me.tool.state) {
  if (kind != ompt_sync_region_taskwait && kind != ompt_sync_region_taskgroup) work_ends(me, at);
  const entered here(me, at);
  me.tool.state = state_of(kind);
  // A group's region begins with its construct; only the wait begins here.
  if (kind != ompt_sync_region_taskgroup) say(ompt_callback_sync_region, ompt_scope_begin);
  say(ompt_callback_sync_region_wait, ompt_scope_begin);
}

sync_region::~sync_region() {
  const entered here(me_, at_);
  say(ompt_callback_sync_region_wait, ompt_scope_end);
  say(ompt_callback_sync_region, ompt_scope_end);
  me_.tool.state = state_before_;
}

void single_event(thread& me, bool is_executor, call_site at) {
  if (is_executor) return work_begins(me, ompt_work_single_executor, 1, at);
  work_ends(me, at);
  work_event(me, ompt_work_single_other, ompt_scope_begin, 1, at);
  work_event(me, ompt_work_single_other, ompt_scope_end, 1, at);
}

// ---- locks, critical and ordered regions

void acquires(thread& me, const void* mutex, ompt_mutex_t kind, unsigned hint, call_site at) {
  report<ompt_callback_mutex_acquire_t>(me, ompt_callback_mutex_acquire, kind, hint,
                                        unsigned{mutex_kind}, id_of(mutex), at.code);
  me.tool.state = state_of(kind);
  me.tool.wait_id = id_of(mutex);
}

void acquired(thread& me, const void* mutex, ompt_mutex_t kind, call_site at) {
  me.tool.state = state_outside(me);
  me.tool.wait_id = 0;
  report<ompt_callback_mutex_t>(me, ompt_callback_mutex_acquired, kind, id_of(mutex), at.code);
}

void released(thread& me, const void* mutex, ompt_mutex_t kind, call_site at) {
  report<ompt_callback_mutex_t>(me, ompt_callback_mutex_released, kind, id_of(mutex), at.code);
}

void lock(small_lock& l, ompt_mutex_t kind, unsigned hint, call_site at) {
  thread& me = self();
  acquires(me, &l, kind, hint, at);
  lock_in_turn(l);
  acquired(me, &l, kind, at);
}

bool try_lock(small_lock& l, ompt_mutex_t kind, call_site at) {
  thread& me = self();
  acquires(me, &l, kind, 0, at);
  const bool is_mine = try_lock_in_turn(l);
  if (is_mine) {
    acquired(me, &l, kind, at);
  } else {
    me.tool.state = state_outside(me);
    me.tool.wait_id = 0;
  }
  return is_mine;
}

void unlock(small_lock& l, ompt_mutex_t kind, call_site at) {
  thread& me = self();
  unlock_in_turn(l);
  released(me, &l, kind, at);
}

void lock_init(const void* l, ompt_mutex_t kind, unsigned hint, call_site at) {
  report<ompt_callback_mutex_acquire_t>(self(), ompt_callback_lock_init, kind, hint,
                                        unsigned{mutex_kind}, id_of(l), at.code);
}

void lock_destroy(const void* l, ompt_mutex_t kind, call_site at) {
  report<ompt_callback_mutex_t>(self(), ompt_callback_lock_destroy, kind, id_of(l), at.code);
}

void nested_lock(const void* l, ompt_scope_endpoint_t endpoint, call_site at) {
  if (endpoint == ompt_scope_begin)
    report<ompt_callback_mutex_acquire_t>(self(), ompt_callback_mutex_acquire, ompt_mutex_nest_lock,
                                          0u, unsigned{mutex_kind}, id_of(l), at.code);
  report<ompt_callback_nest_lock_t>(self(), ompt_callback_nest_lock, endpoint, id_of(l), at.code);
}

// ---- tasks

void task_created(thread& me, task& t, int flags, std::span<const dependence> depend,
                  call_site at) {
  begin_part(t, flags | ((flags & ompt_task_taskwait) != 0 ? 0 : ompt_task_explicit) |
                    (t.is_final ? ompt_task_final : 0));
  task_part& part = part_of(t);
  const entered here(me, at);
  report<ompt_callback_task_create_t>(
      me, ompt_callback_task_create, data_of(me),
      static_cast<const ompt_frame_t*>(&part_of(*me.now.current).frame), &part.data, part.flags,
      depend.empty() ? 0 : 1, at.code);
  if (depend.empty()) return;
  std::vector<ompt_dependence_t> list;
  for (const dependence& each : depend)
    list.push_back({{.value = reinterpret_cast<std::uintptr_t>(each.address)},
                    each.is_mutex ? ompt_dependence_type_mutexinoutset
                    : each.writes ? ompt_dependence_type_inout
                                  : ompt_dependence_type_in});
  report<ompt_callback_dependences_t>(me, ompt_callback_dependences, &part.data,
                                      static_cast<const ompt_dependence_t*>(list.data()),
                                      static_cast<int>(list.size()));
}

void task_depends(thread& me, task& predecessor, task& successor) {
  report<ompt_callback_task_dependence_t>(me, ompt_callback_task_dependence,
                                          &part_of(predecessor).data, &part_of(successor).data);
}

void task_switch(thread& me, task& from, ompt_task_status_t status, task* to) {
  if (to != nullptr) part_of(*to).rank = me.now.rank;
  report<ompt_callback_task_schedule_t>(
      me, ompt_callback_task_schedule, &part_of(from).data, status,
      to != nullptr ? &part_of(*to).data : static_cast<ompt_data_t*>(nullptr));
}

void run_task(thread& me, task& t) {
  if ((part_of(t).flags & ompt_task_taskwait) != 0)
    return task_switch(me, t, ompt_taskwait_complete, nullptr);
  task& before = *me.now.current;
  const call_site here{nullptr, TUTTI_OMPT_FRAME};
  const int state = std::exchange(me.tool.state, ompt_state_work_parallel);
  task_switch(me, before, ompt_task_switch, &t);
  {
    const entered from(me, here);
    part_of(t).frame.exit_frame.ptr = here.frame;
    part_of(t).frame.exit_frame_flags = frame_flags;
    me.now.current = &t;
    t.function(t.data);
    me.now.current = &before;
  }
  if (t.is_detachable) {
    // Under the lock, so that the tool learns of the detached task before it learns of its event.
    const locked guard(t.team->task_lock);
    part_of(t).has_detached = t.awaits_event;
    task_switch(me, t, t.awaits_event ? ompt_task_detach : ompt_task_complete, &before);
  } else {
    const bool ends_early = t.is_cancellable && global().can_cancel && is_cancelled(t);
    task_switch(me, t, ends_early ? ompt_task_cancel : ompt_task_complete, &before);
  }
  me.tool.state = state;
}

void task_discarded(thread& me, task& t) {
  // acquire: pairs with the cancelling store.
  const int kind =
      t.team->is_cancelled.load(acquire) ? ompt_cancel_parallel : ompt_cancel_taskgroup;
  cancel_event(me, t, kind | ompt_cancel_discarded_task, {});
  task_switch(me, t, ompt_task_cancel, me.now.current);
}

void event_fulfilled(thread& me, task& t) {
  task_switch(me, t, part_of(t).has_detached ? ompt_task_late_fulfill : ompt_task_early_fulfill,
              nullptr);
}

void doacross_event(thread& me, ompt_dependence_type_t type, std::span<const std::int64_t> at) {
  std::vector<ompt_dependence_t> list;
  for (const std::int64_t each : at)
    list.push_back({{.value = static_cast<std::uint64_t>(each)}, type});
  report<ompt_callback_dependences_t>(me, ompt_callback_dependences, data_of(me),
                                      static_cast<const ompt_dependence_t*>(list.data()),
                                      static_cast<int>(list.size()));
}

}  // namespace tutti::openmp::ompt
