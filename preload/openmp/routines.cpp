// SPDX-License-Identifier: Apache-2.0
// The omp_* routines, each with Fortran's forms: NAME_ takes 32-bit integers, NAME_8_ 64-bit ones.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <new>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/kmpc.hpp"
#include "preload/openmp/locks.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"

using namespace tutti::openmp;

namespace {

int limited(long value) { return static_cast<int>(std::clamp<long>(value, INT_MIN, INT_MAX)); }

// The context of the thread's ancestor at a level, or null.
const context* ancestor(long level) {
  const context* c = &self().now;
  if (level < 0 || level > static_cast<long>(c->level)) return nullptr;
  while (c->level > static_cast<unsigned>(level)) c = &c->team->outer;
  return c;
}

int ancestor_rank(long level) {
  const context* const c = ancestor(level);
  return c == nullptr ? -1 : static_cast<int>(c->rank);
}

int team_size(long level) {
  const context* const c = ancestor(level);
  return c == nullptr ? -1 : static_cast<int>(c->team->size);
}

}  // namespace

#define TUTTI_OMP_GET(name, expression)                               \
  TUTTI_OMP int omp_##name() { return static_cast<int>(expression); } \
  TUTTI_OMP int omp_##name##_() { return static_cast<int>(expression); }

#define TUTTI_OMP_SET(name, statement)                                  \
  static void do_##name(int value) { statement; }                       \
  TUTTI_OMP void omp_##name(int value) { do_##name(value); }            \
  TUTTI_OMP void omp_##name##_(const int* value) { do_##name(*value); } \
  TUTTI_OMP void omp_##name##_8_(const long* value) { do_##name(limited(*value)); }

TUTTI_OMP_GET(get_thread_num, self().now.rank)
TUTTI_OMP_GET(get_num_threads, self().now.team->size)
TUTTI_OMP_GET(get_max_threads, std::min<unsigned>(env(self()).threads, INT_MAX))
TUTTI_OMP_GET(get_num_procs, processors_here())
TUTTI_OMP_GET(in_parallel, self().now.active_level > 0)
TUTTI_OMP_GET(get_dynamic, env(self()).is_dynamic)
// In the innermost region that may be active it still says that there are some, as in libgomp.
TUTTI_OMP_GET(get_nested, env(self()).max_active_levels > std::max(1u, self().now.active_level))
TUTTI_OMP_GET(get_thread_limit, std::min<unsigned>(env(self()).thread_limit, INT_MAX))
TUTTI_OMP_GET(get_max_active_levels, env(self()).max_active_levels)
TUTTI_OMP_GET(get_supported_active_levels, 255)
TUTTI_OMP_GET(get_level, self().now.level)
TUTTI_OMP_GET(get_active_level, self().now.active_level)
TUTTI_OMP_GET(get_cancellation, global().can_cancel)
TUTTI_OMP_GET(get_proc_bind, env(self()).bind)
TUTTI_OMP_GET(get_default_device, env(self()).device)
TUTTI_OMP_GET(get_num_devices, 0)
TUTTI_OMP_GET(get_initial_device, 0)
TUTTI_OMP_GET(get_device_num, 0)
TUTTI_OMP_GET(is_initial_device, 1)
TUTTI_OMP_GET(get_num_teams, self().num_teams)
TUTTI_OMP_GET(get_team_num, self().team_num)
TUTTI_OMP_GET(get_max_task_priority, global().max_task_priority)
TUTTI_OMP_GET(get_max_teams, global().num_teams)
TUTTI_OMP_GET(get_teams_thread_limit, global().teams_thread_limit)

TUTTI_OMP_SET(set_num_threads,
              env_to_change(self()).threads = static_cast<unsigned>(std::max(1, value)))
TUTTI_OMP_SET(set_dynamic, env_to_change(self()).is_dynamic = value != 0)
TUTTI_OMP_SET(set_max_active_levels, if (value >= 0) env_to_change(self()).max_active_levels =
                                         static_cast<unsigned char>(std::min(value, 255)))
TUTTI_OMP_SET(set_default_device, env_to_change(self()).device = std::max(0, value))
TUTTI_OMP_SET(set_num_teams, if (value >= 0) global().num_teams = static_cast<unsigned>(value))
TUTTI_OMP_SET(set_teams_thread_limit,
              if (value >= 0) global().teams_thread_limit = static_cast<unsigned>(value))
TUTTI_OMP_SET(set_nested, settings& e = env_to_change(self());
              if (value != 0) e.max_active_levels = 255;
              else if (e.max_active_levels > 1) e.max_active_levels = 1)

TUTTI_OMP int omp_get_ancestor_thread_num(int level) { return ancestor_rank(level); }
TUTTI_OMP int omp_get_ancestor_thread_num_(const int* level) { return ancestor_rank(*level); }
TUTTI_OMP int omp_get_ancestor_thread_num_8_(const long* level) { return ancestor_rank(*level); }
TUTTI_OMP int omp_get_team_size(int level) { return team_size(level); }
TUTTI_OMP int omp_get_team_size_(const int* level) { return team_size(*level); }
TUTTI_OMP int omp_get_team_size_8_(const long* level) { return team_size(*level); }

namespace {
void set_schedule(unsigned schedule, long chunk) {
  const unsigned kind = schedule & ~schedule_monotonic;
  if (kind < schedule_static || kind > schedule_auto) return;
  settings& e = env_to_change(self());
  if (kind == schedule_static) chunk = std::max(chunk, 0L);
  if (kind == schedule_dynamic || kind == schedule_guided) chunk = std::max(chunk, 1L);
  if (kind != schedule_auto) e.chunk = chunk;
  e.schedule = schedule;
}
}  // namespace
TUTTI_OMP void omp_set_schedule(unsigned schedule, int chunk) { set_schedule(schedule, chunk); }
TUTTI_OMP void omp_set_schedule_(const unsigned* schedule, const int* chunk) {
  set_schedule(*schedule, *chunk);
}
TUTTI_OMP void omp_set_schedule_8_(const unsigned* schedule, const long* chunk) {
  set_schedule(*schedule, limited(*chunk));
}
TUTTI_OMP void omp_get_schedule(unsigned* schedule, int* chunk) {
  const settings& e = env(self());
  *schedule = e.schedule;
  *chunk = limited(e.chunk);
}
// Fortran programs do not see that a schedule is monotonic, as with libgomp.
TUTTI_OMP void omp_get_schedule_(unsigned* schedule, int* chunk) {
  omp_get_schedule(schedule, chunk);
  *schedule &= ~schedule_monotonic;
}
TUTTI_OMP void omp_get_schedule_8_(unsigned* schedule, long* chunk) {
  int small = 0;
  omp_get_schedule_(schedule, &small);
  *chunk = small;
}

// ---- time

TUTTI_OMP double omp_get_wtime() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}
TUTTI_OMP double omp_get_wtick() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC, &tick);
  return static_cast<double>(tick.tv_sec) + static_cast<double>(tick.tv_nsec) / 1e9;
}
TUTTI_OMP double omp_get_wtime_() { return omp_get_wtime(); }
TUTTI_OMP double omp_get_wtick_() { return omp_get_wtick(); }

// ---- locks. Memory of zeros is a lock that is free, as in libgomp.

namespace {

struct nest_lock {
  small_lock lock;
  int count = 0;
  const void* owner = nullptr;
};
static_assert(sizeof(nest_lock) == 16);

}  // namespace

TUTTI_OMP void omp_init_lock_with_hint(small_lock* l, int hint) {
  new (l) small_lock;
  if (ompt::is_on())
    ompt::lock_init(l, ompt_mutex_lock, static_cast<unsigned>(hint), TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void omp_init_lock(small_lock* l) {
  new (l) small_lock;
  if (ompt::is_on()) ompt::lock_init(l, ompt_mutex_lock, 0, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void omp_destroy_lock(small_lock* l) {
  if (ompt::is_on()) ompt::lock_destroy(l, ompt_mutex_lock, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void omp_set_lock(small_lock* l) {
  if (ompt::is_on()) return ompt::lock(*l, ompt_mutex_lock, 0, TUTTI_OMPT_CALL_SITE);
  lock_in_turn(*l);
}
TUTTI_OMP void omp_unset_lock(small_lock* l) {
  if (ompt::is_on()) return ompt::unlock(*l, ompt_mutex_lock, TUTTI_OMPT_CALL_SITE);
  unlock_in_turn(*l);
}
TUTTI_OMP int omp_test_lock(small_lock* l) {
  if (ompt::is_on()) return ompt::try_lock(*l, ompt_mutex_test_lock, TUTTI_OMPT_CALL_SITE) ? 1 : 0;
  return try_lock_in_turn(*l) ? 1 : 0;
}

TUTTI_OMP void omp_init_nest_lock_with_hint(nest_lock* l, int hint) {
  new (l) nest_lock;
  if (ompt::is_on())
    ompt::lock_init(l, ompt_mutex_nest_lock, static_cast<unsigned>(hint), TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void omp_init_nest_lock(nest_lock* l) {
  new (l) nest_lock;
  if (ompt::is_on()) ompt::lock_init(l, ompt_mutex_nest_lock, 0, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void omp_destroy_nest_lock(nest_lock* l) {
  if (ompt::is_on()) ompt::lock_destroy(l, ompt_mutex_nest_lock, TUTTI_OMPT_CALL_SITE);
}
namespace tutti::openmp {

void set_nest_lock(void* lock, const void* owner, ompt::call_site at) {
  auto* const l = static_cast<nest_lock*>(lock);
  if (__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != owner) {
    if (ompt::is_on())
      ompt::lock(l->lock, ompt_mutex_nest_lock, 0, at);
    else
      lock_in_turn(l->lock);
    __atomic_store_n(&l->owner, owner, __ATOMIC_RELAXED);
  } else if (ompt::is_on()) {
    ompt::nested_lock(l, ompt_scope_begin, at);
  }
  ++l->count;
}

int test_nest_lock(void* lock, const void* owner, ompt::call_site at) {
  auto* const l = static_cast<nest_lock*>(lock);
  if (__atomic_load_n(&l->owner, __ATOMIC_RELAXED) != owner) {
    if (!(ompt::is_on() ? ompt::try_lock(l->lock, ompt_mutex_test_nest_lock, at)
                        : try_lock_in_turn(l->lock)))
      return 0;
    __atomic_store_n(&l->owner, owner, __ATOMIC_RELAXED);
  } else if (ompt::is_on()) {
    ompt::nested_lock(l, ompt_scope_begin, at);
  }
  return ++l->count;
}

}  // namespace tutti::openmp

TUTTI_OMP void omp_set_nest_lock(nest_lock* l) {
  set_nest_lock(l, self().now.current, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void omp_unset_nest_lock(nest_lock* l) {
  if (--l->count > 0) {
    if (ompt::is_on()) ompt::nested_lock(l, ompt_scope_end, TUTTI_OMPT_CALL_SITE);
    return;
  }
  __atomic_store_n(&l->owner, nullptr, __ATOMIC_RELAXED);
  if (ompt::is_on()) return ompt::unlock(l->lock, ompt_mutex_nest_lock, TUTTI_OMPT_CALL_SITE);
  unlock_in_turn(l->lock);
}
TUTTI_OMP int omp_test_nest_lock(nest_lock* l) {
  return test_nest_lock(l, self().now.current, TUTTI_OMPT_CALL_SITE);
}

// Fortran's nestable locks are pointers to ours.
TUTTI_OMP void omp_init_lock_(small_lock* l) { omp_init_lock(l); }
TUTTI_OMP void omp_init_lock_with_hint_(small_lock* l, const int* hint) {
  omp_init_lock_with_hint(l, *hint);
}
TUTTI_OMP void omp_destroy_lock_(small_lock* l) { omp_destroy_lock(l); }
TUTTI_OMP void omp_set_lock_(small_lock* l) { omp_set_lock(l); }
TUTTI_OMP void omp_unset_lock_(small_lock* l) { omp_unset_lock(l); }
TUTTI_OMP int omp_test_lock_(small_lock* l) { return omp_test_lock(l); }
TUTTI_OMP void omp_init_nest_lock_(nest_lock** l) {
  *l = new nest_lock;
  omp_init_nest_lock(*l);
}
TUTTI_OMP void omp_init_nest_lock_with_hint_(nest_lock** l, const int* hint) {
  *l = new nest_lock;
  omp_init_nest_lock_with_hint(*l, *hint);
}
TUTTI_OMP void omp_destroy_nest_lock_(nest_lock** l) {
  omp_destroy_nest_lock(*l);
  delete *l;
  *l = nullptr;
}
TUTTI_OMP void omp_set_nest_lock_(nest_lock** l) { omp_set_nest_lock(*l); }
TUTTI_OMP void omp_unset_nest_lock_(nest_lock** l) { omp_unset_nest_lock(*l); }
TUTTI_OMP int omp_test_nest_lock_(nest_lock** l) { return omp_test_nest_lock(*l); }

// ---- critical and atomic regions

namespace {
constinit small_lock unnamed_critical;
constinit small_lock atomics;
}  // namespace

TUTTI_OMP void GOMP_critical_start() { enter_critical(unnamed_critical, 0, TUTTI_OMPT_CALL_SITE); }
TUTTI_OMP void GOMP_critical_end() { leave_critical(unnamed_critical, TUTTI_OMPT_CALL_SITE); }
// The compiler gives each name a pointer of zeros, in which the lock has room.
TUTTI_OMP void GOMP_critical_name_start(void** name) {
  enter_critical(*reinterpret_cast<small_lock*>(name), 0, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP void GOMP_critical_name_end(void** name) {
  leave_critical(*reinterpret_cast<small_lock*>(name), TUTTI_OMPT_CALL_SITE);
}

namespace {
[[gnu::cold, gnu::noinline]] void lock_watched_atomics(ompt::call_site at) {
  thread& me = self();
  ompt::acquires(me, &atomics, ompt_mutex_atomic, 0, at);
  atomics.lock();
  ompt::acquired(me, &atomics, ompt_mutex_atomic, at);
}
}  // namespace

TUTTI_OMP void GOMP_atomic_start() {
  if (is_reproducible()) begin_in_order(self());
  if (ompt::is_on()) return lock_watched_atomics(TUTTI_OMPT_CALL_SITE);
  atomics.lock();
}
TUTTI_OMP void GOMP_atomic_end() {
  atomics.unlock();
  if (is_reproducible()) end_in_order(self());
  if (ompt::is_on()) ompt::released(self(), &atomics, ompt_mutex_atomic, TUTTI_OMPT_CALL_SITE);
}

// ---- tasks

TUTTI_OMP void omp_fulfill_event(task* event) { fulfill(self(), *event); }
// Fortran passes the event by value.
TUTTI_OMP void omp_fulfill_event_(task* event) { omp_fulfill_event(event); }

TUTTI_OMP int omp_in_final() { return self().now.current->is_final ? 1 : 0; }
TUTTI_OMP int omp_in_final_() { return omp_in_final(); }
TUTTI_OMP int omp_in_explicit_task() { return self().now.current->is_explicit ? 1 : 0; }
TUTTI_OMP int omp_in_explicit_task_() { return omp_in_explicit_task(); }

// ---- tools

TUTTI_OMP int omp_control_tool(int command, int modifier, void* argument) {
  return ompt::control(command, modifier, argument, __builtin_return_address(0));
}
TUTTI_OMP int omp_control_tool_(const int* command, const int* modifier, void* argument) {
  return ompt::control(*command, *modifier, argument, __builtin_return_address(0));
}

// ---- resources

// All kinds are hard pauses, also those that OpenMP does not have, as in libgomp.
TUTTI_OMP int omp_pause_resource(int, int device) {
  const bool is_in_region = self().now.level > 0;
  if (device != 0 || is_in_region) return -1;
  release_threads();
  return 0;
}
TUTTI_OMP int omp_pause_resource_(const int* kind, const int* device) {
  return omp_pause_resource(*kind, *device);
}
TUTTI_OMP int omp_pause_resource_all(int kind) { return omp_pause_resource(kind, 0); }
TUTTI_OMP int omp_pause_resource_all_(const int* kind) { return omp_pause_resource(*kind, 0); }
