// SPDX-License-Identifier: Apache-2.0
// Loops whose iterations wait for earlier iterations.
#include <cstdarg>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/loops.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/teams.hpp"

using namespace tutti::openmp;
using tutti::acquire;
using tutti::release;
using ull = unsigned long long;

namespace {

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
std::uint64_t entry_of(const workshare& s, const thread& me, std::uint64_t iteration) {
  const std::uint64_t threads = me.now.team->size;
  if (s.schedule == schedule_guided) return iteration;
  if (s.schedule == schedule_dynamic) return iteration / s.chunk;
  if (s.chunk != 0) return iteration / s.chunk % threads;
  const std::uint64_t part = s.count / threads, rest = s.count % threads;
  const std::uint64_t in_large = rest * (part + 1);
  return iteration < in_large ? iteration / (part + 1) : rest + (iteration - in_large) / part;
}

[[gnu::cold, gnu::noinline]] void report_source(thread& me, const workshare& s,
                                                const std::uint64_t* at) {
  const std::vector<std::int64_t> list(at, at + s.extents.size());
  ompt::doacross_event(me, ompt_dependence_type_source, list);
}

void post(thread& me, const std::uint64_t* at) {
  workshare& s = *me.now.last_workshare;
  if (ompt::is_on()) report_source(me, s, at);
  if (s.progress == nullptr) return;
  std::uint64_t position = 0;
  for (std::size_t d = 0; d < s.extents.size(); ++d) position = position * s.extents[d] + at[d];
  auto& entry = s.progress[s.schedule == schedule_static ? me.now.rank : entry_of(s, me, at[0])];
  // release: publishes the iterations so far; pairs with wait_for.
  entry.store(position + 1, release);
  me.now.team->turn_wait.notify(entry);
}

template <class Next>
void wait_for(thread& me, std::uint64_t first, Next next) {
  workshare& s = *me.now.last_workshare;
  std::uint64_t position = first;
  if (ompt::is_on()) {
    std::vector<std::int64_t> list{static_cast<std::int64_t>(first)};
    for (std::size_t d = 1; d < s.extents.size(); ++d) {
      const std::uint64_t value = next();
      position = position * s.extents[d] + value;
      list.push_back(static_cast<std::int64_t>(value));
    }
    ompt::doacross_event(me, ompt_dependence_type_sink, list);
  } else {
    for (std::size_t d = 1; d < s.extents.size(); ++d) position = position * s.extents[d] + next();
  }
  if (s.progress == nullptr) return;
  const absence away(me, [&] {
    // relaxed: the wait below acquires.
    return s.progress[entry_of(s, me, first)].load(tutti::relaxed) > position;
  });
  // acquire: pairs with post.
  me.now.team->turn_wait.until(me.turn_wait, s.progress[entry_of(s, me, first)], acquire,
                               [position](std::uint64_t now) { return now > position; });
}

}  // namespace

#define TUTTI_OMP_DOACROSS(name, schedule)                                                        \
  TUTTI_OMP bool GOMP_loop_doacross_##name##_start(unsigned dimensions, long* counts, long chunk, \
                                                   long* from, long* to) {                        \
    return start_loop(doacross_plan(dimensions, counts, schedule, static_cast<ull>(chunk)), from, \
                      to, TUTTI_OMPT_CALL_SITE);                                                  \
  }                                                                                               \
  TUTTI_OMP bool GOMP_loop_ull_doacross_##name##_start(unsigned dimensions, ull* counts,          \
                                                       ull chunk, ull* from, ull* to) {           \
    return start_loop(doacross_plan(dimensions, counts, schedule, chunk), from, to,               \
                      TUTTI_OMPT_CALL_SITE);                                                      \
  }
TUTTI_OMP_DOACROSS(static, schedule_static)
TUTTI_OMP_DOACROSS(dynamic, schedule_dynamic)
TUTTI_OMP_DOACROSS(guided, schedule_guided)

TUTTI_OMP bool GOMP_loop_doacross_runtime_start(unsigned dimensions, long* counts, long* from,
                                                long* to) {
  return start_loop(doacross_plan(dimensions, counts, schedule_runtime, 0), from, to,
                    TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP bool GOMP_loop_ull_doacross_runtime_start(unsigned dimensions, ull* counts, ull* from,
                                                    ull* to) {
  return start_loop(doacross_plan(dimensions, counts, schedule_runtime, 0), from, to,
                    TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP bool GOMP_loop_doacross_start(unsigned dimensions, long* counts, long schedule,
                                        long chunk, long* from, long* to,
                                        std::uintptr_t* reductions, void** memory) {
  plan p = doacross_plan(dimensions, counts, schedule_of_gcc(schedule), static_cast<ull>(chunk));
  return start_any_loop(p, from, to, reductions, memory, TUTTI_OMPT_CALL_SITE);
}
TUTTI_OMP bool GOMP_loop_ull_doacross_start(unsigned dimensions, ull* counts, long schedule,
                                            ull chunk, ull* from, ull* to,
                                            std::uintptr_t* reductions, void** memory) {
  plan p = doacross_plan(dimensions, counts, schedule_of_gcc(schedule), chunk);
  return start_any_loop(p, from, to, reductions, memory, TUTTI_OMPT_CALL_SITE);
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
