// SPDX-License-Identifier: Apache-2.0
// Clang's interface: regions, barriers, and the constructs that one thread or one at a time runs.
#include "preload/openmp/kmpc.hpp"

#include <array>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/loops.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/takeover.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "tutti/platform/native.hpp"

using namespace tutti::openmp;
using tutti::acq_rel;
using tutti::relaxed;

extern "C" {
void GOMP_error(const char* message, std::size_t size);
void GOMP_warning(const char* message, std::size_t size);
}

namespace {

// The body of a region: it gets the numbers of the thread and of the rank, and addresses of
// variables.
using body = void (*)(int* thread, int* rank, ...);

constexpr std::size_t most_arguments = 1024;

template <std::size_t... I>
void call(body function, int* number, int* rank, void** a, std::index_sequence<I...>) {
  function(number, rank, a[I]...);
}
using caller = void (*)(body, int*, int*, void**);
template <std::size_t... Count>
constexpr std::array<caller, sizeof...(Count)> callers(std::index_sequence<Count...>) {
  return {[](body function, int* number, int* rank, void** a) {
    call(function, number, rank, a, std::make_index_sequence<Count>());
  }...};
}
// A call with a number of arguments that only the program knows. Fewer are rounded up: a function
// ignores what comes after its arguments.
constexpr std::size_t argument_counts[] = {0,  1,  2,  3,  4,   6,   8,   12,
                                           16, 24, 32, 64, 128, 256, 512, most_arguments};
constexpr auto callers_by_count = callers(
    std::index_sequence<0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512, most_arguments>());

// Which of them a call with so many arguments uses.
std::size_t caller_for(std::size_t count) {
  std::size_t i = 0;
  while (argument_counts[i] < count) ++i;
  return i;
}

struct region_call {
  body function;
  std::size_t caller;
  void** arguments;
};

void run_region(void* raw) {
  const region_call& c = *static_cast<region_call*>(raw);
  thread& me = self();
  int number = me.number, rank = static_cast<int>(me.now.rank);
  callers_by_count[c.caller](c.function, &number, &rank, c.arguments);
}

// The bytes of the arguments that the call passes.
std::size_t room_for_arguments(int count) {
  if (count > static_cast<int>(most_arguments))
    fatal("a region uses %d variables; tutti passes at most %d", count,
          static_cast<int>(most_arguments));
  return argument_counts[caller_for(static_cast<std::size_t>(count))] * sizeof(void*);
}

region_call call_of(int count, body function, va_list more, void* room) {
  const auto given = static_cast<std::size_t>(count);
  region_call c{function, caller_for(given), static_cast<void**>(room)};
  for (std::size_t i = 0; i < given; ++i) c.arguments[i] = va_arg(more, void*);
  for (std::size_t i = given; i < argument_counts[c.caller]; ++i) c.arguments[i] = nullptr;
  return c;
}

void note_body(thread& me, body function) {
  note_region(me, reinterpret_cast<region_function>(reinterpret_cast<std::uintptr_t>(function)));
}

void fork(const region_call& c, unsigned asked, ompt::call_site at) {
  thread& me = self();
  if (ompt::is_on()) announce_region(me, asked, ompt_parallel_invoker_runtime, at);
  const unsigned bind = std::exchange(me.pushed_bind, 0) | keeps_bind;
  note_body(me, c.function);
  void* const data = const_cast<region_call*>(&c);
  open_region(me, run_region, data, threads_of_region(me, asked, 0), bind, nullptr, nullptr);
  run_region(data);
  close_region(me);
}

}  // namespace

// ---- regions

TUTTI_KMPC void __kmpc_fork_call(source_place*, int count, body function, ...) {
  va_list more;
  va_start(more, function);
  // On the stack of the caller, which may be small, and only as much as there are arguments.
  region_call c = call_of(count, function, more, __builtin_alloca(room_for_arguments(count)));
  va_end(more);
  fork(c, std::exchange(self().pushed_threads, 0), TUTTI_OMPT_CALL_SITE);
}

// Flang's outlined functions get all their variables in one argument.
TUTTI_KMPC void __kmpc_fork_call_if(source_place*, int count, body function, int condition,
                                    void* arguments) {
  const region_call c{function, caller_for(count > 0 && arguments != nullptr ? 1 : 0), &arguments};
  const unsigned asked = std::exchange(self().pushed_threads, 0);
  fork(c, condition != 0 ? asked : 1, TUTTI_OMPT_CALL_SITE);
}

TUTTI_KMPC void __kmpc_serialized_parallel(source_place*, int) {
  thread& me = self();
  me.pushed_threads = me.pushed_bind = 0;
  if (ompt::is_on()) announce_region(me, 1, ompt_parallel_invoker_program, TUTTI_OMPT_CALL_SITE);
  open_region(me, nullptr, nullptr, 1, 0, nullptr, nullptr);
}
TUTTI_KMPC void __kmpc_end_serialized_parallel(source_place*, int) { close_region(self()); }

TUTTI_KMPC void __kmpc_push_num_threads(source_place*, int, int threads) {
  self().pushed_threads = threads > 0 ? static_cast<unsigned>(threads) : 0;
}
// A region with fewer threads than it strictly wants is no error here.
TUTTI_KMPC void __kmpc_push_num_threads_strict(source_place* place, int number, int threads, int,
                                               const char*) {
  __kmpc_push_num_threads(place, number, threads);
}
TUTTI_KMPC void __kmpc_pop_num_threads(source_place*, int) {}
TUTTI_KMPC void __kmpc_set_thread_limit(source_place*, int, int limit) {
  if (limit > 0) env_to_change(self()).thread_limit = static_cast<unsigned>(limit);
}
TUTTI_KMPC void __kmpc_push_proc_bind(source_place*, int, int bind) {
  // clang has a number of its own for `primary`, and GCC's for `master`.
  constexpr int primary = 5;
  self().pushed_bind = bind == primary ? unsigned{bind_primary} : static_cast<unsigned>(bind);
}

// Teams on the host come one after the other.
TUTTI_KMPC void __kmpc_push_num_teams(source_place*, int, int teams, int limit) {
  thread& me = self();
  me.pushed_teams = teams > 0 ? static_cast<unsigned>(teams) : 0;
  me.pushed_limit = limit > 0 ? static_cast<unsigned>(limit) : 0;
}
TUTTI_KMPC void __kmpc_push_num_teams_51(source_place* place, int number, int low, int high,
                                         int limit) {
  __kmpc_push_num_teams(place, number, high > 0 ? high : low, limit);
}
TUTTI_KMPC void __kmpc_fork_teams(source_place*, int count, body function, ...) {
  va_list more;
  va_start(more, function);
  // On the stack of the caller, which may be small, and only as much as there are arguments.
  region_call c = call_of(count, function, more, __builtin_alloca(room_for_arguments(count)));
  va_end(more);
  thread& me = self();
  note_body(me, function);
  // Teams have one thread each, so the note is not for the next region.
  me.opens_serially = false;
  unsigned teams = std::exchange(me.pushed_teams, 0);
  if (teams == 0) teams = global().num_teams != 0 ? global().num_teams : 1;
  unsigned limit = std::exchange(me.pushed_limit, 0);
  if (limit == 0) limit = global().teams_thread_limit;
  const unsigned limit_before = env(me).thread_limit;
  if (limit != 0) env_to_change(me).thread_limit = limit;
  me.num_teams = teams;
  for (me.team_num = 0; me.team_num < teams; ++me.team_num) run_region(&c);
  me.num_teams = 1;
  me.team_num = 0;
  if (limit != 0) env_to_change(me).thread_limit = limit_before;
}

TUTTI_KMPC int __kmpc_global_thread_num(source_place*) { return self().number; }
TUTTI_KMPC int __kmpc_global_num_threads(source_place*) { return known_threads(); }
TUTTI_KMPC int __kmpc_bound_thread_num(source_place*) { return static_cast<int>(self().now.rank); }
TUTTI_KMPC int __kmpc_bound_num_threads(source_place*) {
  return static_cast<int>(self().now.team->size);
}
TUTTI_KMPC int __kmpc_in_parallel(source_place*) { return self().now.active_level > 0 ? 1 : 0; }
TUTTI_KMPC int __kmpc_ok_to_fork(source_place*) { return 1; }
TUTTI_KMPC void __kmpc_begin(source_place*, int) {}
TUTTI_KMPC void __kmpc_end(source_place*) {}

// ---- barriers

namespace {

ompt_sync_region_t kind_of(const source_place* at) {
  const int flags = at != nullptr ? at->flags : 0;
  if ((flags & implicit_barrier) != 0) return ompt_sync_region_barrier_implicit_workshare;
  return (flags & explicit_barrier) != 0 ? ompt_sync_region_barrier_explicit
                                         : ompt_sync_region_barrier_implementation;
}

bool wait(thread& me, const source_place* place, bool can_be_cancelled, ompt::call_site at) {
  if (ompt::is_on())
    return ompt::in_watched_region(me, kind_of(place), at, [&me, can_be_cancelled] {
      return wait_at_barrier(me, can_be_cancelled);
    });
  return wait_at_barrier(me, can_be_cancelled);
}

}  // namespace

TUTTI_KMPC void __kmpc_barrier(source_place* place, int) {
  wait(self(), place, false, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC int __kmpc_cancel_barrier(source_place* place, int) {
  return wait(self(), place, true, TUTTI_OMPT_CALL_SITE) ? 1 : 0;
}

// One thread goes on when all have come, and the others when it has ended its part.
TUTTI_KMPC int __kmpc_barrier_master(source_place* place, int) {
  thread& me = self();
  wait(me, place, false, TUTTI_OMPT_CALL_SITE);
  if (me.now.rank == 0) return 1;
  wait(me, place, false, TUTTI_OMPT_CALL_SITE);
  return 0;
}
TUTTI_KMPC void __kmpc_end_barrier_master(source_place* place, int) {
  wait(self(), place, false, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC int __kmpc_barrier_master_nowait(source_place* place, int) {
  thread& me = self();
  wait(me, place, false, TUTTI_OMPT_CALL_SITE);
  return me.now.rank == 0 ? 1 : 0;
}

TUTTI_KMPC void __kmpc_flush(source_place*) {
  // seq_cst: the construct orders all that comes before it and after it.
  tutti::platform::fence(tutti::seq_cst);
  if (ompt::is_on()) ompt::flush_event(self(), TUTTI_OMPT_CALL_SITE);
}

namespace {
// clang numbers what can be cancelled; libgomp has a bit for each.
int cancelled_construct(int kind) { return 1 << (kind - 1); }
}  // namespace

TUTTI_KMPC int __kmpc_cancel(source_place*, int, int kind) {
  return cancel(cancelled_construct(kind), true, TUTTI_OMPT_CALL_SITE) ? 1 : 0;
}
TUTTI_KMPC int __kmpc_cancellationpoint(source_place*, int, int kind) {
  return is_at_cancelled_point(cancelled_construct(kind), TUTTI_OMPT_CALL_SITE) ? 1 : 0;
}

// ---- one thread, or one at a time

namespace {
int begin_masked(int rank, ompt::call_site at) {
  thread& me = self();
  if (static_cast<int>(me.now.rank) != rank) return 0;
  if (ompt::is_on()) ompt::masked_event(me, ompt_scope_begin, at);
  return 1;
}
void end_masked(ompt::call_site at) {
  if (ompt::is_on()) ompt::masked_event(self(), ompt_scope_end, at);
}
}  // namespace

TUTTI_KMPC int __kmpc_master(source_place*, int) { return begin_masked(0, TUTTI_OMPT_CALL_SITE); }
TUTTI_KMPC void __kmpc_end_master(source_place*, int) { end_masked(TUTTI_OMPT_CALL_SITE); }
TUTTI_KMPC int __kmpc_masked(source_place*, int, int rank) {
  return begin_masked(rank, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_end_masked(source_place*, int) { end_masked(TUTTI_OMPT_CALL_SITE); }
TUTTI_KMPC int __kmpc_single(source_place*, int) {
  thread& me = self();
  const bool is_mine = is_single(me);
  if (ompt::is_on()) ompt::single_event(me, is_mine, TUTTI_OMPT_CALL_SITE);
  return is_mine ? 1 : 0;
}
TUTTI_KMPC void __kmpc_end_single(source_place*, int) {
  if (ompt::is_on()) ompt::work_ends(self(), TUTTI_OMPT_CALL_SITE);
}

TUTTI_KMPC void __kmpc_copyprivate(source_place* place, int, std::size_t, void* data,
                                   void (*copy)(void*, void*), int has_values) {
  thread& me = self();
  omp_team& team = *me.now.team;
  // relaxed: the barrier publishes it.
  if (has_values != 0) team.copied.store(data, relaxed);
  wait(me, place, false, TUTTI_OMPT_CALL_SITE);
  // relaxed: see above.
  if (has_values == 0) copy(data, team.copied.load(relaxed));
  wait(me, place, false, TUTTI_OMPT_CALL_SITE);
}

// The caller copies from the address, and waits at a barrier afterwards.
TUTTI_KMPC void* __kmpc_copyprivate_light(source_place* place, int, void* data) {
  thread& me = self();
  omp_team& team = *me.now.team;
  // relaxed: the barrier publishes it.
  if (data != nullptr) team.copied.store(data, relaxed);
  wait(me, place, false, TUTTI_OMPT_CALL_SITE);
  me.is_copied_from = data != nullptr && global().can_cancel;
  // relaxed: see above.
  return team.copied.load(relaxed);
}

TUTTI_KMPC void __kmpc_scope(source_place*, int, void*) {
  if (ompt::is_on()) ompt::work_begins(self(), ompt_work_scope, 1, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_end_scope(source_place*, int, void*) {
  if (ompt::is_on()) ompt::work_ends(self(), TUTTI_OMPT_CALL_SITE);
}

TUTTI_KMPC void __kmpc_error(source_place*, int severity, const char* message) {
  constexpr int fatal_error = 2;
  (severity == fatal_error ? GOMP_error : GOMP_warning)(
      message, message != nullptr ? std::strlen(message) : 0);
}

TUTTI_KMPC void __kmpc_critical(source_place*, int, void* name) {
  enter_critical(lock_in(name), 0, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_critical_with_hint(source_place*, int, void* name, unsigned hint) {
  enter_critical(lock_in(name), hint, TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_end_critical(source_place*, int, void* name) {
  leave_critical(lock_in(name), TUTTI_OMPT_CALL_SITE);
}

TUTTI_KMPC void __kmpc_ordered(source_place*, int) { enter_ordered(self(), TUTTI_OMPT_CALL_SITE); }
TUTTI_KMPC void __kmpc_end_ordered(source_place*, int) { leave_ordered(TUTTI_OMPT_CALL_SITE); }

// ---- reductions: each thread adds its values under the lock

namespace {

// All reductions of a file have the same name. A function that combines values holds that lock, and
// may open a region with reductions of its own, which then have a lock of their team.
small_lock& lock_of_reduction(const thread& me, void* name) {
  const context* c = &me.now;
  do {
    c = &c->team->outer;
    if (c->is_combining) return me.now.team->reduction_lock;
  } while (c->level > 0);
  return lock_in(name);
}

}  // namespace

TUTTI_KMPC int __kmpc_reduce_nowait(source_place*, int, int, std::size_t, void*,
                                    void (*)(void*, void*), void* name) {
  thread& me = self();
  if (is_reproducible()) begin_in_order(me);
  lock_of_reduction(me, name).lock();
  me.now.is_combining = true;
  if (ompt::is_on()) ompt::reduction_event(me, ompt_scope_begin, TUTTI_OMPT_CALL_SITE);
  return 1;
}
TUTTI_KMPC void __kmpc_end_reduce_nowait(source_place*, int, void* name) {
  thread& me = self();
  if (ompt::is_on()) ompt::reduction_event(me, ompt_scope_end, TUTTI_OMPT_CALL_SITE);
  me.now.is_combining = false;
  lock_of_reduction(me, name).unlock();
  if (is_reproducible()) end_in_order(me);
}
TUTTI_KMPC int __kmpc_reduce(source_place* at, int thread, int values, std::size_t bytes,
                             void* data, void (*add)(void*, void*), void* name) {
  return __kmpc_reduce_nowait(at, thread, values, bytes, data, add, name);
}
TUTTI_KMPC void __kmpc_end_reduce(source_place* at, int number, void* name) {
  __kmpc_end_reduce_nowait(at, number, name);
  thread& me = self();
  ompt::in_sync_region(me, ompt_sync_region_barrier_implicit_workshare, TUTTI_OMPT_CALL_SITE,
                       [&me] { return wait_at_barrier(me, false); });
}

// ---- variables of each thread. The thread that starts the program uses the variable itself.

namespace {

struct constructors {
  void* (*make)(void*) = nullptr;
  void* (*copy)(void*, void*) = nullptr;
  // Those of an array of `elements`, if that is not 0.
  void* (*make_all)(void*, std::size_t) = nullptr;
  void* (*copy_all)(void*, void*, std::size_t) = nullptr;
  std::size_t elements = 0;
};
struct registered_variables {
  small_lock lock;
  std::unordered_map<void*, constructors> of;
};
registered_variables& registered() {
  static registered_variables& one = *new registered_variables;
  return one;
}

}  // namespace

TUTTI_KMPC void __kmpc_threadprivate_register(source_place*, void* variable, void* (*make)(void*),
                                              void* (*copy)(void*, void*), void (*)(void*)) {
  registered_variables& all = registered();
  const locked guard(all.lock);
  all.of[variable] = {.make = make, .copy = copy};
}
TUTTI_KMPC void __kmpc_threadprivate_register_vec(source_place*, void* variable,
                                                  void* (*make)(void*, std::size_t),
                                                  void* (*copy)(void*, void*, std::size_t),
                                                  void (*)(void*, std::size_t),
                                                  std::size_t elements) {
  registered_variables& all = registered();
  const locked guard(all.lock);
  all.of[variable] = {.make_all = make, .copy_all = copy, .elements = elements};
}

TUTTI_KMPC void* __kmpc_threadprivate_cached(source_place*, int, void* variable, std::size_t size,
                                             void***) {
  thread_local std::unordered_map<void*, void*> copies;
  if (is_initial_thread()) return variable;
  void*& copy = copies[variable];
  if (copy != nullptr) return copy;
  copy = std::calloc(1, size);
  if (copy == nullptr) fatal("Out of memory allocating %lu bytes", size);
  registered_variables& all = registered();
  constructors found;
  {
    const locked guard(all.lock);
    const auto at = all.of.find(variable);
    if (at != all.of.end()) found = at->second;
  }
  if (found.make_all != nullptr)
    found.make_all(copy, found.elements);
  else if (found.copy_all != nullptr)
    found.copy_all(copy, variable, found.elements);
  else if (found.make != nullptr)
    found.make(copy);
  else if (found.copy != nullptr)
    found.copy(copy, variable);
  else
    __builtin_memcpy(copy, variable, size);
  return copy;
}
TUTTI_KMPC void* __kmpc_threadprivate(source_place* place, int number, void* variable,
                                      std::size_t size) {
  return __kmpc_threadprivate_cached(place, number, variable, size, nullptr);
}
