// SPDX-License-Identifier: Apache-2.0
// Loops: which thread has which iterations, and the order of ordered regions.
#include "preload/openmp/loops.hpp"

#include <algorithm>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/barrier.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "preload/openmp/workshares.hpp"

namespace tutti::openmp {

plan loop_plan(std::uint64_t first, std::uint64_t end, std::uint64_t step, bool goes_up,
               bool is_empty) {
  plan p;
  p.first = first;
  p.end = end;
  p.step = step;
  if (!is_empty)
    p.count = goes_up ? (end - first - 1) / step + 1 : (first - end - 1) / (0 - step) + 1;
  return p;
}

void set_schedule(plan& p, const settings& e, unsigned schedule, std::uint64_t chunk) {
  schedule &= ~schedule_monotonic;
  if (schedule == schedule_runtime) {
    schedule = e.schedule & ~schedule_monotonic;
    chunk = e.chunk > 0 ? static_cast<std::uint64_t>(e.chunk) : 0;
  }
  if (schedule == schedule_auto) {
    schedule = schedule_static;
    chunk = 0;
  }
  // The rank alone decides who has an iteration.
  if (is_reproducible()) schedule = schedule_static;
  if (schedule != schedule_static) chunk = std::max<std::uint64_t>(chunk, 1);
  p.schedule = schedule;
  p.chunk = std::min(chunk, std::max<std::uint64_t>(p.count, 1));
}

namespace {

// Hands out iterations from..to. Returns false if none are left.
bool next_static(thread& me, const workshare& s, std::uint64_t& from, std::uint64_t& to) {
  const std::uint64_t threads = me.now.team->size, rank = me.now.rank;
  if (s.chunk == 0) {
    if (me.now.static_trip++ != 0) return false;
    const std::uint64_t part = s.count / threads, rest = s.count % threads;
    from = rank * part + std::min(rank, rest);
    to = from + part + (rank < rest ? 1 : 0);
    return from < to;
  }
  const std::uint64_t chunk = me.now.static_trip++ * threads + rank;
  if (chunk > (s.count - 1) / s.chunk || s.count == 0) return false;
  from = chunk * s.chunk;
  to = s.count - from > s.chunk ? from + s.chunk : s.count;
  return true;
}

bool next_dynamic(const omp_team&, workshare& s, std::uint64_t& from, std::uint64_t& to) {
  constexpr std::uint64_t cannot_wrap = std::uint64_t{1} << 47;
  if (s.count < cannot_wrap) {
    // Each thread comes once after the end, so the counter cannot wrap around.
    // relaxed: the counter publishes nothing.
    from = s.taken.fetch_add(s.chunk, relaxed);
    if (from >= s.count) return false;
  } else {
    // relaxed: the counter publishes nothing.
    from = s.taken.load(relaxed);
    do {
      if (from >= s.count) return false;
    } while (!s.taken.compare_exchange_weak(from, from + std::min(s.chunk, s.count - from),
                                            // relaxed: see above.
                                            relaxed, relaxed));
  }
  to = from + std::min(s.chunk, s.count - from);
  return true;
}

bool next_guided(const omp_team& team, workshare& s, std::uint64_t& from, std::uint64_t& to) {
  // relaxed: the counter publishes nothing.
  from = s.taken.load(relaxed);
  do {
    if (from >= s.count) return false;
    const std::uint64_t left = s.count - from;
    to = from + std::min(left, std::max(s.chunk, (left - 1) / team.size + 1));
    // relaxed: see above.
  } while (!s.taken.compare_exchange_weak(from, to, relaxed, relaxed));
  return true;
}

void wait_for_turn_of(thread& me, workshare& s) {
  const absence away(me, [&] {
    // relaxed: the wait below acquires.
    return s.turn.load(relaxed) == me.now.my_chunk;
  });
  // acquire: pairs with pass_turn_on.
  me.now.team->turn_wait.until(me.turn_wait, s.turn, acquire,
                               [mine = me.now.my_chunk](std::uint32_t now) { return now == mine; });
}

void pass_turn_on(thread& me, workshare& s) {
  me.now.has_chunk = false;
  // release: publishes what the ordered region wrote; pairs with wait_for_turn_of.
  s.turn.store(me.now.my_chunk + 1, release);
  me.now.team->turn_wait.notify(s.turn);
}

bool next_ordered(thread& me, workshare& s, std::uint64_t& from, std::uint64_t& to) {
  const omp_team& team = *me.now.team;
  if (me.now.has_chunk) {
    // Nobody waits for a turn after the last chunk.
    if (me.now.has_last_chunk) return false;
    wait_for_turn_of(me, s);
    pass_turn_on(me, s);
  }
  if (s.schedule == schedule_static) {
    if (!next_static(me, s, from, to)) return false;
    me.now.my_chunk = s.chunk == 0 ? me.now.rank : static_cast<std::uint32_t>(from / s.chunk);
  } else {
    const locked guard(s.lock);
    const bool any = s.schedule == schedule_guided ? next_guided(team, s, from, to)
                                                   : next_dynamic(team, s, from, to);
    if (!any) return false;
    me.now.my_chunk = static_cast<std::uint32_t>(s.chunks++);
  }
  me.now.has_chunk = true;
  me.now.has_last_chunk = to == s.count;
  return true;
}

}  // namespace

bool next_range(thread& me, std::uint64_t& from, std::uint64_t& to) {
  workshare& s = *me.now.last_workshare;
  const omp_team& team = *me.now.team;
  // A single thread has its chunks in their order.
  if (s.is_ordered && team.size > 1) return next_ordered(me, s, from, to);
  if (s.schedule == schedule_static) return next_static(me, s, from, to);
  return s.schedule == schedule_guided ? next_guided(team, s, from, to)
                                       : next_dynamic(team, s, from, to);
}

void wait_for_turn(thread& me) {
  workshare& s = *me.now.last_workshare;
  if (s.is_ordered && me.now.has_chunk) wait_for_turn_of(me, s);
}

void next_workshare_with_reductions(thread& me, plan& wanted, std::uintptr_t* reductions,
                                    void** memory) {
  if (memory != nullptr) wanted.memory_bytes = reinterpret_cast<std::uintptr_t>(*memory);
  bool is_first = false;
  if (reductions == nullptr) {
    workshare& s = next_workshare(me, wanted, is_first);
    if (memory != nullptr) *memory = s.memory;
    return;
  }
  start_group(me, true);
  // All threads have the reductions in the same memory.
  taskgroup& group = *me.now.current->group;
  wanted.reductions = reductions;
  register_reductions(reductions, group.reductions, nullptr, me.now.team->size);
  workshare& s = next_workshare(me, wanted, is_first);
  if (!is_first) {
    unregister_reductions(reductions);
    register_reductions(reductions, group.reductions, s.reductions, me.now.team->size);
  }
  group.reductions = reductions;
  if (memory != nullptr) *memory = s.memory;
}

}  // namespace tutti::openmp

using namespace tutti::openmp;
using ull = unsigned long long;

namespace {

plan plan_of(long first, long end, long step) {
  return loop_plan(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end),
                   static_cast<std::uint64_t>(step), step > 0,
                   step > 0 ? first >= end : first <= end);
}

plan plan_of(bool goes_up, std::uint64_t first, std::uint64_t end, std::uint64_t step) {
  return loop_plan(first, end, step, goes_up, goes_up ? first >= end : first <= end);
}

template <class... Bounds>
plan scheduled(unsigned schedule, std::uint64_t chunk, bool is_ordered, Bounds... bounds) {
  plan p = plan_of(bounds...);
  set_schedule(p, env(self()), schedule, chunk);
  p.is_ordered = is_ordered;
  return p;
}

}  // namespace

// Loops whose bounds are long, and those whose bounds are unsigned long long.
#define TUTTI_OMP_LOOP(name, schedule, is_ordered)                                                 \
  TUTTI_OMP bool GOMP_loop_##name##_start(long first, long end, long step, long chunk, long* from, \
                                          long* to) {                                              \
    return start_loop(scheduled(schedule, static_cast<ull>(chunk), is_ordered, first, end, step),  \
                      from, to, TUTTI_OMPT_CALL_SITE);                                             \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_##name##_next(long* from, long* to) {                                   \
    return next_chunk(self(), from, to);                                                           \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name##_start(bool up, ull first, ull end, ull step, ull chunk,    \
                                              ull* from, ull* to) {                                \
    return start_loop(scheduled(schedule, chunk, is_ordered, up, std::uint64_t{first},             \
                                std::uint64_t{end}, std::uint64_t{step}),                          \
                      from, to, TUTTI_OMPT_CALL_SITE);                                             \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name##_next(ull* from, ull* to) {                                 \
    return next_chunk(self(), from, to);                                                           \
  }
TUTTI_OMP_LOOP(static, schedule_static, false)
TUTTI_OMP_LOOP(dynamic, schedule_dynamic, false)
TUTTI_OMP_LOOP(guided, schedule_guided, false)
TUTTI_OMP_LOOP(nonmonotonic_dynamic, schedule_dynamic, false)
TUTTI_OMP_LOOP(nonmonotonic_guided, schedule_guided, false)
TUTTI_OMP_LOOP(ordered_static, schedule_static, true)
TUTTI_OMP_LOOP(ordered_dynamic, schedule_dynamic, true)
TUTTI_OMP_LOOP(ordered_guided, schedule_guided, true)

#define TUTTI_OMP_RUNTIME_LOOP(name, is_ordered)                                                   \
  TUTTI_OMP bool GOMP_loop_##name##_start(long first, long end, long step, long* from, long* to) { \
    return start_loop(scheduled(schedule_runtime, 0, is_ordered, first, end, step), from, to,      \
                      TUTTI_OMPT_CALL_SITE);                                                       \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_##name##_next(long* from, long* to) {                                   \
    return next_chunk(self(), from, to);                                                           \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name##_start(bool up, ull first, ull end, ull step, ull* from,    \
                                              ull* to) {                                           \
    return start_loop(scheduled(schedule_runtime, 0, is_ordered, up, std::uint64_t{first},         \
                                std::uint64_t{end}, std::uint64_t{step}),                          \
                      from, to, TUTTI_OMPT_CALL_SITE);                                             \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name##_next(ull* from, ull* to) {                                 \
    return next_chunk(self(), from, to);                                                           \
  }
TUTTI_OMP_RUNTIME_LOOP(runtime, false)
TUTTI_OMP_RUNTIME_LOOP(nonmonotonic_runtime, false)
TUTTI_OMP_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
TUTTI_OMP_RUNTIME_LOOP(ordered_runtime, true)

#define TUTTI_OMP_ANY_LOOP(name, is_ordered)                                                       \
  TUTTI_OMP bool GOMP_loop_##name(long first, long end, long step, long schedule, long chunk,      \
                                  long* from, long* to, std::uintptr_t* reductions,                \
                                  void** memory) {                                                 \
    plan p = scheduled(schedule_of_gcc(schedule), static_cast<ull>(chunk), is_ordered, first, end, \
                       step);                                                                      \
    return start_any_loop(p, from, to, reductions, memory, TUTTI_OMPT_CALL_SITE);                  \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name(bool up, ull first, ull end, ull step, long schedule,        \
                                      ull chunk, ull* from, ull* to, std::uintptr_t* reductions,   \
                                      void** memory) {                                             \
    plan p = scheduled(schedule_of_gcc(schedule), chunk, is_ordered, up, std::uint64_t{first},     \
                       std::uint64_t{end}, std::uint64_t{step});                                   \
    return start_any_loop(p, from, to, reductions, memory, TUTTI_OMPT_CALL_SITE);                  \
  }
TUTTI_OMP_ANY_LOOP(start, false)
TUTTI_OMP_ANY_LOOP(ordered_start, true)

TUTTI_OMP void GOMP_loop_end() { end_workshare(false, TUTTI_OMPT_CALL_SITE); }
TUTTI_OMP void GOMP_loop_end_nowait() {
  if (ompt::is_on()) ompt::work_ends(self(), TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP bool GOMP_loop_end_cancel() { return end_workshare(true, TUTTI_OMPT_CALL_SITE); }

// ---- a region that is one loop

namespace {
void parallel_loop(region_function function, void* data, unsigned threads, const plan& wanted,
                   unsigned flags, bool is_start, ompt::call_site at) {
  thread& me = self();
  if (ompt::is_on())
    announce_region(me, threads,
                    is_start ? ompt_parallel_invoker_program : ompt_parallel_invoker_runtime, at);
  open_region(me, function, data, threads_of_region(me, threads, 0), flags, nullptr, &wanted);
  if (is_start) return;
  function(data);
  close_region(me);
}
}  // namespace

#define TUTTI_OMP_PARALLEL_LOOP(name, schedule)                                                    \
  TUTTI_OMP void GOMP_parallel_loop_##name(region_function function, void* data, unsigned threads, \
                                           long first, long end, long step, long chunk,            \
                                           unsigned flags) {                                       \
    parallel_loop(function, data, threads,                                                         \
                  scheduled(schedule, static_cast<ull>(chunk), false, first, end, step), flags,    \
                  false, TUTTI_OMPT_CALL_SITE);                                                    \
  }
TUTTI_OMP_PARALLEL_LOOP(static, schedule_static)
TUTTI_OMP_PARALLEL_LOOP(dynamic, schedule_dynamic)
TUTTI_OMP_PARALLEL_LOOP(guided, schedule_guided)
TUTTI_OMP_PARALLEL_LOOP(nonmonotonic_dynamic, schedule_dynamic)
TUTTI_OMP_PARALLEL_LOOP(nonmonotonic_guided, schedule_guided)

#define TUTTI_OMP_PARALLEL_LOOP_START(name, schedule)                                             \
  TUTTI_OMP void GOMP_parallel_loop_##name##_start(region_function function, void* data,          \
                                                   unsigned threads, long first, long end,        \
                                                   long step, long chunk) {                       \
    parallel_loop(function, data, threads,                                                        \
                  scheduled(schedule, static_cast<ull>(chunk), false, first, end, step), 0, true, \
                  TUTTI_OMPT_CALL_SITE);                                                          \
  }
TUTTI_OMP_PARALLEL_LOOP_START(static, schedule_static)
TUTTI_OMP_PARALLEL_LOOP_START(dynamic, schedule_dynamic)
TUTTI_OMP_PARALLEL_LOOP_START(guided, schedule_guided)

#define TUTTI_OMP_PARALLEL_RUNTIME_LOOP(name)                                                      \
  TUTTI_OMP void GOMP_parallel_loop_##name(region_function function, void* data, unsigned threads, \
                                           long first, long end, long step, unsigned flags) {      \
    parallel_loop(function, data, threads,                                                         \
                  scheduled(schedule_runtime, 0, false, first, end, step), flags, false,           \
                  TUTTI_OMPT_CALL_SITE);                                                           \
  }
TUTTI_OMP_PARALLEL_RUNTIME_LOOP(runtime)
TUTTI_OMP_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
TUTTI_OMP_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

TUTTI_OMP void GOMP_parallel_loop_runtime_start(region_function function, void* data,
                                                unsigned threads, long first, long end, long step) {
  parallel_loop(function, data, threads, scheduled(schedule_runtime, 0, false, first, end, step), 0,
                true, TUTTI_OMPT_CALL_SITE);
}

// ---- ordered

TUTTI_OMP void GOMP_ordered_start() { enter_ordered(self(), TUTTI_OMPT_CALL_SITE); }
TUTTI_OMP void GOMP_ordered_end() { leave_ordered(TUTTI_OMPT_CALL_SITE); }
