// SPDX-License-Identifier: Apache-2.0
// The events that a tool sees. The interfaces of GCC's and of clang's runtimes report them here,
// from the functions that the program calls. A caller tests is_on() first; the functions for which
// the header does the test are at the end.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "preload/openmp/locks.hpp"
#include "preload/openmp/ompt/omp-tools.h"
#include "preload/openmp/ompt/parts.hpp"
#include "preload/openmp/ompt/tool.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/threads.hpp"

namespace tutti::openmp::ompt {

// The only kind of mutex: small_lock of locks.hpp.
inline constexpr int mutex_kind = 1;

// What a task remembers for the tool, which the first call makes.
task_part& part_of(task& t);
// Frees it, for tasks that are not used again.
void forget_part(task& t);

// ---- threads and regions

void thread_begins(thread& me);
void thread_ends(thread& me);

// `team` is the one that the region will have.
void region_begins(thread& me, omp_team& team, unsigned requested, int flags, call_site at);
void region_ends(thread& me, omp_team& team);
// The thread has entered the region. `frame` is that of the function that calls its body.
void implicit_task_begins(thread& me, void* frame);
// Waits at the region's barrier, and ends the implicit task.
void end_implicit_task(thread& me);

// ---- constructs

// The thread begins a worksharing construct. It ends at the next call of work_ends, which the next
// barrier calls, too: GCC's programs do not say where `single` ends.
void work_begins(thread& me, int kind, std::uint64_t count, call_site at);
void work_ends(thread& me, call_site at);
// A construct in which the thread has no part, or whose end its caller knows.
void work_event(thread& me, ompt_work_t kind, ompt_scope_endpoint_t endpoint, std::uint64_t count,
                call_site at);
void single_event(thread& me, bool is_executor, call_site at);
void masked_event(thread& me, ompt_scope_endpoint_t endpoint, call_site at);
void reduction_event(thread& me, ompt_scope_endpoint_t endpoint, call_site at);
void flush_event(thread& me, call_site at);
void group_begins(thread& me, call_site at);
// `flags` are of ompt_cancel_flag_t.
void cancel_event(thread& me, task& of, int flags, call_site at);
void error_event(thread& me, ompt_severity_t severity, const char* message, std::size_t length,
                 call_site at);

// A barrier or a wait for tasks, until the end of the scope.
class sync_region {
 public:
  sync_region(thread& me, ompt_sync_region_t kind, call_site at);
  ~sync_region();
  sync_region(const sync_region&) = delete;
  sync_region& operator=(const sync_region&) = delete;

 private:
  void say(ompt_callbacks_t event, ompt_scope_endpoint_t endpoint) const;
  thread& me_;
  ompt_sync_region_t kind_;
  call_site at_;
  int state_before_;
};

// ---- locks, critical and ordered regions. Each test_* kind belongs to the try_lock of its kind.

void lock(small_lock& l, ompt_mutex_t kind, unsigned hint, call_site at);
bool try_lock(small_lock& l, ompt_mutex_t kind, call_site at);
void unlock(small_lock& l, ompt_mutex_t kind, call_site at);
void lock_init(const void* l, ompt_mutex_t kind, unsigned hint, call_site at);
void lock_destroy(const void* l, ompt_mutex_t kind, call_site at);
// The owner of a nestable lock sets it again, or unsets it and keeps it.
void nested_lock(const void* l, ompt_scope_endpoint_t endpoint, call_site at);
// The thread waits for a mutex of another type until `acquired`.
void acquires(thread& me, const void* mutex, ompt_mutex_t kind, unsigned hint, call_site at);
void acquired(thread& me, const void* mutex, ompt_mutex_t kind, call_site at);
void released(thread& me, const void* mutex, ompt_mutex_t kind, call_site at);

// ---- tasks

// `flags` are of ompt_task_flag_t, without ompt_task_explicit.
void task_created(thread& me, task& t, int flags, std::span<const dependence> depend, call_site at);
void task_depends(thread& me, task& predecessor, task& successor);
// The thread leaves one task for another one, which may be null.
void task_switch(thread& me, task& from, ompt_task_status_t status, task* to);
// Runs the task's function.
void run_task(thread& me, task& t);
// The task has not run, because it is cancelled.
void task_discarded(thread& me, task& t);
// omp_fulfill_event. The caller holds the lock of the team's tasks, as run_task does when it tells
// that a task detaches: the tool learns of both in their order.
void event_fulfilled(thread& me, task& t);
// `source` or `sink` of a doacross loop.
void doacross_event(thread& me, ompt_dependence_type_t type, std::span<const std::int64_t> at);

// ---- with the test

template <class Wait>
[[gnu::noinline, gnu::cold]] auto in_watched_region(thread& me, ompt_sync_region_t kind,
                                                    call_site at, Wait wait) {
  const sync_region region(me, kind, at);
  return wait();
}
// Calls `wait`, which waits at a barrier or for tasks.
template <class Wait>
[[gnu::always_inline]] inline auto in_sync_region(thread& me, ompt_sync_region_t kind, call_site at,
                                                  Wait wait) {
  if (!is_on()) return wait();
  return in_watched_region(me, kind, at, wait);
}

}  // namespace tutti::openmp::ompt

namespace tutti::openmp {

inline void enter_critical(small_lock& l, unsigned hint, ompt::call_site at) {
  if (is_reproducible()) begin_critical_in_order(self());
  if (ompt::is_on()) return ompt::lock(l, ompt_mutex_critical, hint, at);
  lock_in_turn(l);
}
inline void leave_critical(small_lock& l, ompt::call_site at) {
  if (ompt::is_on())
    ompt::unlock(l, ompt_mutex_critical, at);
  else
    unlock_in_turn(l);
  if (is_reproducible()) end_critical_in_order(self());
}

}  // namespace tutti::openmp
