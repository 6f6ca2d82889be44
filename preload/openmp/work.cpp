// SPDX-License-Identifier: Apache-2.0
// Work that the threads of a crew share: loops, sections, single, and the order of ordered regions.
#include <algorithm>
#include <cstdarg>
#include <cstdlib>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/core.hpp"

namespace tutti::openmp {
namespace {

share* new_share(thread& me, const plan& wanted, unsigned threads) {
  share* s = nullptr;
  if (me.free_shares.empty()) {
    s = new share;
  } else {
    s = me.free_shares.back();
    me.free_shares.pop_back();
  }
  static_cast<plan&>(*s) = wanted;
  // relaxed: publishing the share publishes them.
  s->next.store(nullptr, relaxed);
  s->passed.store(0, relaxed);
  s->taken.store(0, relaxed);
  s->turn.store(0, relaxed);
  s->chunks = 0;
  if (wanted.memory_bytes != 0) s->memory = std::calloc(1, wanted.memory_bytes);
  if (!wanted.extents.empty()) {
    std::uint64_t entries = threads;
    if (wanted.schedule == schedule_guided) entries = wanted.extents[0];
    if (wanted.schedule == schedule_dynamic) entries = wanted.extents[0] / wanted.chunk + 1;
    s->progress = new std::atomic<std::uint64_t>[entries]();
  }
  return s;
}

void recycle(thread& me, share* s) {
  std::free(s->memory);
  s->memory = nullptr;
  delete[] s->progress;
  s->progress = nullptr;
  me.free_shares.push_back(s);
}

}  // namespace

share& next_share(thread& me, const plan& wanted, bool& is_first) {
  crew& team = *me.now.team;
  share* const last = me.now.last_share;
  // acquire: pairs with the exchange of the thread that made it.
  share* next = last->next.load(acquire);
  is_first = false;
  if (next == nullptr) {
    share* const mine = new_share(me, wanted, team.size);
    // acq_rel: publishes it; and see above. acquire: see above.
    if (last->next.compare_exchange_strong(next, mine, acq_rel, acquire)) {
      next = mine;
      is_first = true;
    } else {
      recycle(me, mine);
    }
  }
  me.now.last_share = next;
  me.now.static_trip = 0;
  me.now.has_chunk = false;
  // acq_rel: the thread that frees it follows all others that used it.
  if (last->passed.fetch_add(1, acq_rel) + 1 == team.size) {
    // relaxed: the end of the region publishes it.
    team.oldest.store(next, relaxed);
    if (last != &team.root) recycle(me, last);
  }
  return *next;
}

void publish_first_share(thread& me, crew& team, const plan& wanted) {
  share* const first = new_share(me, wanted, team.size);
  // relaxed: the opening of the region publishes it.
  team.root.next.store(first, relaxed);
  team.begin = first;
}

void free_shares(thread& me, crew& team) {
  // relaxed: all ranks have ended their parts.
  share* s = team.oldest.load(relaxed);
  // relaxed: see above.
  if (s == nullptr) s = team.root.next.load(relaxed);
  if (s == nullptr) return;
  while (s != nullptr) {
    // relaxed: see above.
    share* const next = s->next.load(relaxed);
    recycle(me, s);
    s = next;
  }
  // relaxed: see above.
  team.oldest.store(nullptr, relaxed);
  team.root.next.store(nullptr, relaxed);
  team.root.passed.store(0, relaxed);
  team.begin = &team.root;
}

namespace {

// ---- loops

plan plan_of(std::uint64_t first, std::uint64_t end, std::uint64_t step, bool goes_up,
             bool is_empty) {
  plan p;
  p.first = first;
  p.end = end;
  p.step = step;
  if (!is_empty)
    p.count = goes_up ? (end - first - 1) / step + 1 : (first - end - 1) / (0 - step) + 1;
  return p;
}

plan plan_of(long first, long end, long step) {
  return plan_of(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end),
                 static_cast<std::uint64_t>(step), step > 0,
                 step > 0 ? first >= end : first <= end);
}

plan plan_of(bool goes_up, std::uint64_t first, std::uint64_t end, std::uint64_t step) {
  return plan_of(first, end, step, goes_up, goes_up ? first >= end : first <= end);
}

// The schedule that a program gives, or that of the task's settings.
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
  if (schedule != schedule_static) chunk = std::max<std::uint64_t>(chunk, 1);
  p.schedule = schedule;
  p.chunk = std::min(chunk, std::max<std::uint64_t>(p.count, 1));
}

// Hands out iterations from..to. Returns false if none are left.
bool next_static(thread& me, const share& s, std::uint64_t& from, std::uint64_t& to) {
  const std::uint64_t threads = me.now.team->size, rank = me.now.rank;
  if (s.chunk == 0) {
    if (me.now.static_trip++ != 0) return false;
    const std::uint64_t share = s.count / threads, rest = s.count % threads;
    from = rank * share + std::min(rank, rest);
    to = from + share + (rank < rest ? 1 : 0);
    return from < to;
  }
  const std::uint64_t chunk = me.now.static_trip++ * threads + rank;
  if (chunk > (s.count - 1) / s.chunk || s.count == 0) return false;
  from = chunk * s.chunk;
  to = s.count - from > s.chunk ? from + s.chunk : s.count;
  return true;
}

bool next_dynamic(const crew&, share& s, std::uint64_t& from, std::uint64_t& to) {
  constexpr std::uint64_t cannot_wrap = std::uint64_t{1} << 47;
  if (s.count < cannot_wrap) {
    // relaxed: look before, so that threads that come after the end write nothing; the counter
    // publishes nothing.
    if (s.taken.load(relaxed) >= s.count) return false;
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

bool next_guided(const crew& team, share& s, std::uint64_t& from, std::uint64_t& to) {
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

void wait_for_turn(thread& me, share& s) {
  // acquire: pairs with pass_turn_on.
  s.turn_wait.until(me.turn_wait, s.turn, acquire,
                    [mine = me.now.my_chunk](std::uint32_t now) { return now == mine; });
}

void pass_turn_on(thread& me, share& s) {
  me.now.has_chunk = false;
  // release: publishes what the ordered region wrote; pairs with wait_for_turn.
  s.turn.store(me.now.my_chunk + 1, release);
  s.turn_wait.notify(s.turn);
}

bool next_ordered(thread& me, share& s, std::uint64_t& from, std::uint64_t& to) {
  const crew& team = *me.now.team;
  if (me.now.has_chunk) {
    wait_for_turn(me, s);
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
  return true;
}

template <class Value>
bool next_chunk(thread& me, Value* first, Value* last) {
  share& s = *me.now.last_share;
  const crew& team = *me.now.team;
  std::uint64_t from = 0, to = 0;
  // A single thread has its chunks in their order.
  const bool is_ordered = s.is_ordered && team.size > 1;
  const bool any = is_ordered                      ? next_ordered(me, s, from, to)
                   : s.schedule == schedule_static ? next_static(me, s, from, to)
                   : s.schedule == schedule_guided ? next_guided(team, s, from, to)
                                                   : next_dynamic(team, s, from, to);
  if (!any) return false;
  *first = static_cast<Value>(s.first + from * s.step);
  *last = static_cast<Value>(to == s.count ? s.end : s.first + to * s.step);
  return true;
}

template <class Value>
bool start_loop(const plan& wanted, Value* first, Value* last) {
  thread& me = self();
  bool is_first = false;
  next_share(me, wanted, is_first);
  return next_chunk(me, first, last);
}

// Goes on to the next share, whose task reductions all threads have in the same memory.
share& share_with_reductions(thread& me, plan& wanted, std::uintptr_t* reductions) {
  bool is_first = false;
  if (reductions == nullptr) return next_share(me, wanted, is_first);
  taskgroup& group = *me.now.current->group;
  wanted.reductions = reductions;
  register_reductions(reductions, group.reductions, nullptr, me.now.team->size);
  share& s = next_share(me, wanted, is_first);
  if (!is_first) {
    unregister_reductions(reductions);
    register_reductions(reductions, group.reductions, s.reductions, me.now.team->size);
  }
  group.reductions = reductions;
  return s;
}

// The loops that may have task reductions and memory for all threads.
template <class Value>
bool start_any_loop(plan& wanted, Value* first, Value* last, std::uintptr_t* reductions,
                    void** memory) {
  thread& me = self();
  if (memory != nullptr) wanted.memory_bytes = reinterpret_cast<std::uintptr_t>(*memory);
  if (reductions != nullptr) start_group(me, true);
  share& s = share_with_reductions(me, wanted, reductions);
  if (memory != nullptr) *memory = s.memory;
  if (first == nullptr) return true;
  return next_chunk(me, first, last);
}

template <class... Bounds>
plan scheduled(unsigned schedule, std::uint64_t chunk, bool is_ordered, Bounds... bounds) {
  plan p = plan_of(bounds...);
  set_schedule(p, env(self()), schedule, chunk);
  p.is_ordered = is_ordered;
  return p;
}

// ---- doacross loops

template <class Value>
plan doacross_plan(unsigned dimensions, const Value* counts, unsigned schedule,
                   std::uint64_t chunk) {
  plan p;
  p.count = p.end = static_cast<std::uint64_t>(counts[0]);
  set_schedule(p, env(self()), schedule, chunk);
  for (unsigned d = 0; d < dimensions; ++d)
    p.extents.push_back(static_cast<std::uint64_t>(counts[d]));
  return p;
}

// Which entry of `progress` an iteration of the outer loop has.
std::uint64_t entry_of(const share& s, const thread& me, std::uint64_t iteration) {
  const std::uint64_t threads = me.now.team->size;
  if (s.schedule == schedule_guided) return iteration;
  if (s.schedule == schedule_dynamic) return iteration / s.chunk;
  if (s.chunk != 0) return iteration / s.chunk % threads;
  const std::uint64_t share = s.count / threads, rest = s.count % threads;
  const std::uint64_t in_large = rest * (share + 1);
  return iteration < in_large ? iteration / (share + 1) : rest + (iteration - in_large) / share;
}

void post(thread& me, const std::uint64_t* at) {
  share& s = *me.now.last_share;
  if (s.progress == nullptr) return;
  std::uint64_t position = 0;
  for (std::size_t d = 0; d < s.extents.size(); ++d) position = position * s.extents[d] + at[d];
  auto& entry = s.progress[s.schedule == schedule_static ? me.now.rank : entry_of(s, me, at[0])];
  // release: publishes the iterations so far; pairs with wait_for.
  entry.store(position + 1, release);
  s.progress_wait.notify(entry);
}

template <class Next>
void wait_for(thread& me, std::uint64_t first, Next next) {
  share& s = *me.now.last_share;
  std::uint64_t position = first;
  for (std::size_t d = 1; d < s.extents.size(); ++d) position = position * s.extents[d] + next();
  if (s.progress == nullptr) return;
  // acquire: pairs with post.
  s.progress_wait.until(me.turn_wait, s.progress[entry_of(s, me, first)], acquire,
                        [position](std::uint64_t now) { return now > position; });
}

unsigned next_section(thread& me) {
  std::uint64_t from = 0, to = 0;
  return next_dynamic(*me.now.team, *me.now.last_share, from, to) ? static_cast<unsigned>(from) + 1
                                                                  : 0;
}

plan sections_plan(unsigned count) {
  plan p;
  p.schedule = schedule_dynamic;
  p.count = count;
  return p;
}

}  // namespace
}  // namespace tutti::openmp

using namespace tutti::openmp;
using tutti::acquire;
using tutti::relaxed;
using ull = unsigned long long;

// Loops whose bounds are long, and those whose bounds are unsigned long long.
#define TUTTI_OMP_LOOP(name, schedule, is_ordered)                                                 \
  TUTTI_OMP bool GOMP_loop_##name##_start(long first, long end, long step, long chunk, long* from, \
                                          long* to) {                                              \
    return start_loop(scheduled(schedule, static_cast<ull>(chunk), is_ordered, first, end, step),  \
                      from, to);                                                                   \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_##name##_next(long* from, long* to) {                                   \
    return next_chunk(self(), from, to);                                                           \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name##_start(bool up, ull first, ull end, ull step, ull chunk,    \
                                              ull* from, ull* to) {                                \
    return start_loop(scheduled(schedule, chunk, is_ordered, up, std::uint64_t{first},             \
                                std::uint64_t{end}, std::uint64_t{step}),                          \
                      from, to);                                                                   \
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
    return start_loop(scheduled(schedule_runtime, 0, is_ordered, first, end, step), from, to);     \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_##name##_next(long* from, long* to) {                                   \
    return next_chunk(self(), from, to);                                                           \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name##_start(bool up, ull first, ull end, ull step, ull* from,    \
                                              ull* to) {                                           \
    return start_loop(scheduled(schedule_runtime, 0, is_ordered, up, std::uint64_t{first},         \
                                std::uint64_t{end}, std::uint64_t{step}),                          \
                      from, to);                                                                   \
  }                                                                                                \
  TUTTI_OMP bool GOMP_loop_ull_##name##_next(ull* from, ull* to) {                                 \
    return next_chunk(self(), from, to);                                                           \
  }
TUTTI_OMP_RUNTIME_LOOP(runtime, false)
TUTTI_OMP_RUNTIME_LOOP(nonmonotonic_runtime, false)
TUTTI_OMP_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
TUTTI_OMP_RUNTIME_LOOP(ordered_runtime, true)

#define TUTTI_OMP_ANY_LOOP(name, is_ordered)                                                     \
  TUTTI_OMP bool GOMP_loop_##name(long first, long end, long step, long schedule, long chunk,    \
                                  long* from, long* to, std::uintptr_t* reductions,              \
                                  void** memory) {                                               \
    plan p = scheduled(static_cast<unsigned>(schedule), static_cast<ull>(chunk), is_ordered,     \
                       first, end, step);                                                        \
    return start_any_loop(p, from, to, reductions, memory);                                      \
  }                                                                                              \
  TUTTI_OMP bool GOMP_loop_ull_##name(bool up, ull first, ull end, ull step, long schedule,      \
                                      ull chunk, ull* from, ull* to, std::uintptr_t* reductions, \
                                      void** memory) {                                           \
    plan p = scheduled(static_cast<unsigned>(schedule), chunk, is_ordered, up,                   \
                       std::uint64_t{first}, std::uint64_t{end}, std::uint64_t{step});           \
    return start_any_loop(p, from, to, reductions, memory);                                      \
  }
TUTTI_OMP_ANY_LOOP(start, false)
TUTTI_OMP_ANY_LOOP(ordered_start, true)

#define TUTTI_OMP_DOACROSS(name, schedule)                                                        \
  TUTTI_OMP bool GOMP_loop_doacross_##name##_start(unsigned dimensions, long* counts, long chunk, \
                                                   long* from, long* to) {                        \
    return start_loop(doacross_plan(dimensions, counts, schedule, static_cast<ull>(chunk)), from, \
                      to);                                                                        \
  }                                                                                               \
  TUTTI_OMP bool GOMP_loop_ull_doacross_##name##_start(unsigned dimensions, ull* counts,          \
                                                       ull chunk, ull* from, ull* to) {           \
    return start_loop(doacross_plan(dimensions, counts, schedule, chunk), from, to);              \
  }
TUTTI_OMP_DOACROSS(static, schedule_static)
TUTTI_OMP_DOACROSS(dynamic, schedule_dynamic)
TUTTI_OMP_DOACROSS(guided, schedule_guided)

TUTTI_OMP bool GOMP_loop_doacross_runtime_start(unsigned dimensions, long* counts, long* from,
                                                long* to) {
  return start_loop(doacross_plan(dimensions, counts, schedule_runtime, 0), from, to);
}
TUTTI_OMP bool GOMP_loop_ull_doacross_runtime_start(unsigned dimensions, ull* counts, ull* from,
                                                    ull* to) {
  return start_loop(doacross_plan(dimensions, counts, schedule_runtime, 0), from, to);
}
TUTTI_OMP bool GOMP_loop_doacross_start(unsigned dimensions, long* counts, long schedule,
                                        long chunk, long* from, long* to,
                                        std::uintptr_t* reductions, void** memory) {
  plan p =
      doacross_plan(dimensions, counts, static_cast<unsigned>(schedule), static_cast<ull>(chunk));
  return start_any_loop(p, from, to, reductions, memory);
}
TUTTI_OMP bool GOMP_loop_ull_doacross_start(unsigned dimensions, ull* counts, long schedule,
                                            ull chunk, ull* from, ull* to,
                                            std::uintptr_t* reductions, void** memory) {
  plan p = doacross_plan(dimensions, counts, static_cast<unsigned>(schedule), chunk);
  return start_any_loop(p, from, to, reductions, memory);
}

TUTTI_OMP void GOMP_doacross_post(long* counts) {
  post(self(), reinterpret_cast<const std::uint64_t*>(counts));
}
TUTTI_OMP void GOMP_doacross_ull_post(ull* counts) {
  post(self(), reinterpret_cast<const std::uint64_t*>(counts));
}
TUTTI_OMP void GOMP_doacross_wait(long first, ...) {
  va_list more;
  va_start(more, first);
  wait_for(self(), static_cast<std::uint64_t>(first),
           [&more] { return static_cast<std::uint64_t>(va_arg(more, long)); });
  va_end(more);
}
TUTTI_OMP void GOMP_doacross_ull_wait(ull first, ...) {
  va_list more;
  va_start(more, first);
  wait_for(self(), first, [&more] { return std::uint64_t{va_arg(more, ull)}; });
  va_end(more);
}

TUTTI_OMP void GOMP_loop_end() { meet(self(), false); }
TUTTI_OMP void GOMP_loop_end_nowait() {}
TUTTI_OMP bool GOMP_loop_end_cancel() { return meet(self(), true); }

// ---- a region that is one loop

namespace {
void parallel_loop(region_function function, void* data, unsigned threads, const plan& wanted,
                   unsigned flags, bool is_start) {
  thread& me = self();
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
                  false);                                                                          \
  }
TUTTI_OMP_PARALLEL_LOOP(static, schedule_static)
TUTTI_OMP_PARALLEL_LOOP(dynamic, schedule_dynamic)
TUTTI_OMP_PARALLEL_LOOP(guided, schedule_guided)
TUTTI_OMP_PARALLEL_LOOP(nonmonotonic_dynamic, schedule_dynamic)
TUTTI_OMP_PARALLEL_LOOP(nonmonotonic_guided, schedule_guided)

#define TUTTI_OMP_PARALLEL_LOOP_START(name, schedule)                                              \
  TUTTI_OMP void GOMP_parallel_loop_##name##_start(region_function function, void* data,           \
                                                   unsigned threads, long first, long end,         \
                                                   long step, long chunk) {                        \
    parallel_loop(function, data, threads,                                                         \
                  scheduled(schedule, static_cast<ull>(chunk), false, first, end, step), 0, true); \
  }
TUTTI_OMP_PARALLEL_LOOP_START(static, schedule_static)
TUTTI_OMP_PARALLEL_LOOP_START(dynamic, schedule_dynamic)
TUTTI_OMP_PARALLEL_LOOP_START(guided, schedule_guided)

#define TUTTI_OMP_PARALLEL_RUNTIME_LOOP(name)                                                      \
  TUTTI_OMP void GOMP_parallel_loop_##name(region_function function, void* data, unsigned threads, \
                                           long first, long end, long step, unsigned flags) {      \
    parallel_loop(function, data, threads,                                                         \
                  scheduled(schedule_runtime, 0, false, first, end, step), flags, false);          \
  }
TUTTI_OMP_PARALLEL_RUNTIME_LOOP(runtime)
TUTTI_OMP_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
TUTTI_OMP_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)

TUTTI_OMP void GOMP_parallel_loop_runtime_start(region_function function, void* data,
                                                unsigned threads, long first, long end, long step) {
  parallel_loop(function, data, threads, scheduled(schedule_runtime, 0, false, first, end, step), 0,
                true);
}

// ---- sections and scopes

TUTTI_OMP unsigned GOMP_sections_start(unsigned count) {
  thread& me = self();
  bool is_first = false;
  next_share(me, sections_plan(count), is_first);
  return next_section(me);
}

TUTTI_OMP unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  thread& me = self();
  plan p = sections_plan(count);
  std::uint64_t unused = 0;
  start_any_loop<std::uint64_t>(p, nullptr, &unused, reductions, memory);
  return next_section(me);
}

TUTTI_OMP unsigned GOMP_sections_next() { return next_section(self()); }
TUTTI_OMP void GOMP_sections_end() { meet(self(), false); }
TUTTI_OMP void GOMP_sections_end_nowait() {}
TUTTI_OMP bool GOMP_sections_end_cancel() { return meet(self(), true); }

TUTTI_OMP void GOMP_scope_start(std::uintptr_t* reductions) {
  plan p;
  start_any_loop<std::uint64_t>(p, nullptr, nullptr, reductions, nullptr);
}

namespace {
void parallel_sections(region_function function, void* data, unsigned threads, unsigned count,
                       unsigned flags, bool is_start) {
  thread& me = self();
  const plan p = sections_plan(count);
  open_region(me, function, data, threads_of_region(me, threads, count), flags, nullptr, &p);
  if (is_start) return;
  function(data);
  close_region(me);
}
}  // namespace

TUTTI_OMP void GOMP_parallel_sections(region_function function, void* data, unsigned threads,
                                      unsigned count, unsigned flags) {
  parallel_sections(function, data, threads, count, flags, false);
}
TUTTI_OMP void GOMP_parallel_sections_start(region_function function, void* data, unsigned threads,
                                            unsigned count) {
  parallel_sections(function, data, threads, count, 0, true);
}

// ---- single

TUTTI_OMP bool GOMP_single_start() {
  thread& me = self();
  crew& team = *me.now.team;
  if (team.size == 1) return true;
  std::uint32_t mine = me.now.singles++;
  // relaxed: look first, so that threads that come late write nothing; the count publishes nothing.
  if (team.singles.load(relaxed) != mine) return false;
  // relaxed: see above.
  return team.singles.compare_exchange_strong(mine, mine + 1, relaxed, relaxed);
}

TUTTI_OMP void* GOMP_single_copy_start() {
  if (GOMP_single_start()) return nullptr;
  thread& me = self();
  meet(me, false);
  // relaxed: the barrier published it.
  return me.now.team->copied.load(relaxed);
}

TUTTI_OMP void GOMP_single_copy_end(void* data) {
  thread& me = self();
  // relaxed: the barrier publishes it.
  me.now.team->copied.store(data, relaxed);
  meet(me, false);
}

// ---- ordered

TUTTI_OMP void GOMP_ordered_start() {
  thread& me = self();
  share& s = *me.now.last_share;
  if (s.is_ordered && me.now.has_chunk) wait_for_turn(me, s);
}
TUTTI_OMP void GOMP_ordered_end() {}
