// SPDX-License-Identifier: Apache-2.0
// Clang's interface: loops. Their last value is included.
#include <algorithm>
#include <memory>
#include <type_traits>

#include "preload/openmp/kmpc.hpp"
#include "preload/openmp/loops.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/teams.hpp"

using namespace tutti::openmp;
using tutti::acquire;
using tutti::release;

namespace {

// The numbers of clang's schedules, without the bits of their modifiers.
enum : int {
  static_chunked = 33,
  static_whole = 34,
  dynamic_chunked = 35,
  guided_chunked = 36,
  runtime = 37,
  automatic = 38,
  static_balanced_chunked = 45,
  before_ordered = 32,
  first_ordered = 65,
  last_ordered = 72,
  distribute_chunked = 91,
  distribute_whole = 92,
  first_unmerged = 160,
  modifiers = (1 << 29) | (1 << 30)
};

template <class Value>
using unsigned_of = std::make_unsigned_t<Value>;

// How often a loop runs, without overflow; 0 for all values of the type.
template <class Value>
unsigned_of<Value> count_of(Value lower, Value upper, std::make_signed_t<Value> step) {
  using U = unsigned_of<Value>;
  if (step > 0) return lower > upper ? 0 : static_cast<U>((U(upper) - U(lower)) / U(step) + 1);
  return lower < upper ? 0 : static_cast<U>((U(lower) - U(upper)) / (U(0) - U(step)) + 1);
}

// The part of this thread, or of this team.
template <class Value>
void static_part(int schedule, int* is_last, Value* lower, Value* upper,
                 std::make_signed_t<Value>* stride, std::make_signed_t<Value> step,
                 std::make_signed_t<Value> chunk) {
  using U = unsigned_of<Value>;
  using S = std::make_signed_t<Value>;
  thread& me = self();
  schedule &= ~modifiers;
  U parts = me.now.team->size, mine = me.now.rank;
  if (schedule == distribute_chunked || schedule == distribute_whole) {
    parts = me.num_teams;
    mine = me.team_num;
    schedule -= distribute_chunked - static_chunked;
  }
  const bool is_empty = step > 0 ? *upper < *lower : *lower < *upper;
  if (is_empty) {
    if (is_last != nullptr) *is_last = 0;
    *stride = step;
    return;
  }
  const U count = count_of(*lower, *upper, step), last = static_cast<U>(count - 1);
  const U first = U(*lower), by = U(step);
  const Value end = *upper;
  bool has_last = false;
  if (parts == 1) {
    has_last = true;
    *stride = static_cast<S>(U(*upper) - U(*lower) + (step > 0 ? U(1) : U(0) - U(1)));
  } else if (schedule == static_chunked || schedule == static_balanced_chunked) {
    U size = chunk < 1 ? U(1) : U(chunk);
    // A part of each thread, rounded up to a multiple of the chunk.
    if (schedule == static_balanced_chunked) size = U((last / parts + 1 + size - 1) / size * size);
    // Several chunks that are longer than the loop would go beyond the type's values.
    size = U(std::min<U>(U(size - 1), last) + 1);
    const U last_chunk = last / size;
    has_last = last_chunk % parts == mine;
    if (mine > last_chunk) {
      *lower = Value(U(U(end) + by));
    } else {
      *lower = Value(U(first + mine * size * by));
      if (mine < last_chunk) *upper = Value(U(U(*lower) + (size - 1) * by));
    }
    // The program adds it to the bounds of each chunk. After a chunk that is the thread's only one
    // it leads just behind the end.
    const U next = last_chunk < parts ? U(U(end) + by - U(*lower)) : U(size * parts * by);
    // Flang's programs divide by it, also those threads that have no chunk.
    *stride = static_cast<S>(next != 0 ? next : by);
  } else if (last < parts - 1) {
    if (mine <= last) {
      *lower = *upper = Value(U(first + mine * by));
    } else {
      *lower = Value(U(U(end) + by));
    }
    has_last = mine == last;
    *stride = static_cast<S>(count);
  } else {
    // A loop over all values of its type has one iteration more than the type can count.
    U size_of_part = U(last / parts), rest = U(last % parts + 1);
    if (rest == parts) {
      ++size_of_part;
      rest = 0;
    }
    const U from = U(mine * size_of_part + std::min<U>(mine, rest));
    const U size = U(size_of_part + (mine < rest ? 1 : 0));
    *lower = Value(U(first + from * by));
    *upper = Value(U(U(*lower) + (size - 1) * by));
    has_last = mine == parts - 1;
    *stride = static_cast<S>(count);
  }
  if (is_last != nullptr) *is_last = has_last ? 1 : 0;
}

// The part of this thread in that of its team, whose end is stored as well.
template <class Value>
void part_of_team(int schedule, int* is_last, Value* lower, Value* upper, Value* end_of_team,
                  std::make_signed_t<Value>* stride, std::make_signed_t<Value> step,
                  std::make_signed_t<Value> chunk) {
  int is_last_team = 0, is_last_thread = 0;
  static_part<Value>(distribute_whole, &is_last_team, lower, upper, stride, step, chunk);
  *end_of_team = *upper;
  static_part<Value>(schedule, &is_last_thread, lower, upper, stride, step, chunk);
  if (is_last != nullptr) *is_last = is_last_team & is_last_thread;
}

[[gnu::cold, gnu::noinline]] void report_static(const source_place* place, int schedule,
                                                std::uint64_t count, ompt::call_site at) {
  const int flags = place != nullptr ? place->flags : 0;
  schedule &= ~modifiers;
  const bool is_distribute = (flags & work_distribute) != 0 || schedule == distribute_chunked ||
                             schedule == distribute_whole;
  ompt::work_begins(self(),
                    is_distribute                  ? ompt_work_distribute
                    : (flags & work_sections) != 0 ? ompt_work_sections
                                                   : ompt_work_loop,
                    count, at);
}

unsigned schedule_of(int number) {
  switch (number) {
    case static_chunked:
    case static_whole:
    case 40:
    case 41:
    case static_balanced_chunked: return schedule_static;
    case runtime:
    case 47: return schedule_runtime;
    case automatic: return schedule_auto;
    case guided_chunked:
    case 39:
    case 42:
    case 43:
    case 46: return schedule_guided;
    default: return schedule_dynamic;
  }
}

template <class Value>
void start(int schedule, Value lower, Value upper, std::make_signed_t<Value> step,
           std::make_signed_t<Value> chunk, ompt::call_site at) {
  thread& me = self();
  schedule &= ~modifiers;
  if (schedule > first_unmerged) schedule -= first_unmerged - before_ordered;
  const bool is_ordered = schedule >= first_ordered && schedule <= last_ordered;
  if (is_ordered) schedule -= before_ordered;
  plan p;
  p.first = static_cast<std::uint64_t>(lower);
  p.step = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  p.count = count_of(lower, upper, step);
  // A loop over all values of a type of 64 bits has more iterations than fit, by one.
  p.end = p.first + p.count * p.step;
  const std::uint64_t asked = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
  set_schedule(p, env(me), schedule_of(schedule), schedule == static_whole ? 0 : asked);
  p.is_ordered = is_ordered;
  if (ompt::is_on()) ompt::work_begins(me, ompt_work_loop, p.count, at);
  bool is_first = false;
  next_workshare(me, p, is_first);
}

template <class Value>
int next(int* is_last, Value* lower, Value* upper, std::make_signed_t<Value>* stride,
         ompt::call_site at) {
  thread& me = self();
  std::uint64_t from = 0, to = 0;
  if (!next_range(me, from, to)) {
    if (ompt::is_on()) ompt::work_ends(me, at);
    return 0;
  }
  const workshare& s = *me.now.last_workshare;
  *lower = static_cast<Value>(s.first + from * s.step);
  *upper = static_cast<Value>(s.first + (to - 1) * s.step);
  if (stride != nullptr) *stride = static_cast<std::make_signed_t<Value>>(s.step);
  if (is_last != nullptr) *is_last = to == s.count ? 1 : 0;
  return 1;
}

}  // namespace

#define TUTTI_KMPC_LOOPS(name, Value, Signed)                                                      \
  TUTTI_KMPC void __kmpc_for_static_init_##name(source_place* place, int, int schedule,            \
                                                int* is_last, Value* lower, Value* upper,          \
                                                Signed* stride, Signed step, Signed chunk) {       \
    if (ompt::is_on())                                                                             \
      report_static(place, schedule, count_of<Value>(*lower, *upper, step), TUTTI_OMPT_CALL_SITE); \
    static_part<Value>(schedule, is_last, lower, upper, stride, step, chunk);                      \
  }                                                                                                \
  TUTTI_KMPC void __kmpc_dist_for_static_init_##name(                                              \
      source_place* place, int, int schedule, int* is_last, Value* lower, Value* upper,            \
      Value* end_of_team, Signed* stride, Signed step, Signed chunk) {                             \
    if (ompt::is_on())                                                                             \
      report_static(place, schedule, count_of<Value>(*lower, *upper, step), TUTTI_OMPT_CALL_SITE); \
    part_of_team<Value>(schedule, is_last, lower, upper, end_of_team, stride, step, chunk);        \
  }                                                                                                \
  TUTTI_KMPC void __kmpc_team_static_init_##name(source_place*, int, int* is_last, Value* lower,   \
                                                 Value* upper, Signed* stride, Signed step,        \
                                                 Signed chunk) {                                   \
    static_part<Value>(distribute_chunked, is_last, lower, upper, stride, step, chunk);            \
  }                                                                                                \
  TUTTI_KMPC void __kmpc_dist_dispatch_init_##name(source_place*, int, int schedule, int* is_last, \
                                                   Value lower, Value upper, Signed step,          \
                                                   Signed chunk) {                                 \
    int is_last_team = 0;                                                                          \
    Signed stride = 0;                                                                             \
    static_part<Value>(distribute_whole, &is_last_team, &lower, &upper, &stride, step, chunk);     \
    if (is_last != nullptr) *is_last = is_last_team;                                               \
    start<Value>(schedule, lower, upper, step, chunk, TUTTI_OMPT_CALL_SITE);                       \
  }                                                                                                \
  TUTTI_KMPC void __kmpc_dispatch_init_##name(source_place*, int, int schedule, Value lower,       \
                                              Value upper, Signed step, Signed chunk) {            \
    start<Value>(schedule, lower, upper, step, chunk, TUTTI_OMPT_CALL_SITE);                       \
  }                                                                                                \
  TUTTI_KMPC int __kmpc_dispatch_next_##name(source_place*, int, int* is_last, Value* lower,       \
                                             Value* upper, Signed* stride) {                       \
    return next<Value>(is_last, lower, upper, stride, TUTTI_OMPT_CALL_SITE);                       \
  }                                                                                                \
  TUTTI_KMPC void __kmpc_dispatch_fini_##name(source_place*, int) {}
TUTTI_KMPC_LOOPS(4, std::int32_t, std::int32_t)
TUTTI_KMPC_LOOPS(4u, std::uint32_t, std::int32_t)
TUTTI_KMPC_LOOPS(8, std::int64_t, std::int64_t)
TUTTI_KMPC_LOOPS(8u, std::uint64_t, std::int64_t)

// Clang 19 and later ones call it.
TUTTI_KMPC void __kmpc_dispatch_deinit(source_place*, int) {}

TUTTI_KMPC void __kmpc_for_static_fini(source_place*, int) {
  if (ompt::is_on()) ompt::work_ends(self(), TUTTI_OMPT_CALL_SITE);
}

// ---- loops whose iterations wait for earlier iterations. Their table has a life of its own, as
// the loop itself may be of any kind.

namespace tutti::openmp {

struct doacross_table {
  struct extent {
    std::int64_t lower, upper, step;
  };
  std::vector<extent> extents;
  // A bit for each iteration.
  std::unique_ptr<atomic<std::uint32_t>[]> done;
  adaptive_wait<> wait{0};
  // Ranks that have ended the loop, under the team's lock.
  unsigned ended = 0;

  std::uint64_t index(const std::int64_t* at) const {
    std::uint64_t position = 0;
    for (std::size_t d = 0; d < extents.size(); ++d)
      position = position * size(extents[d]) +
                 static_cast<std::uint64_t>((at[d] - extents[d].lower) / extents[d].step);
    return position;
  }
  bool has(const std::int64_t* at) const {
    for (std::size_t d = 0; d < extents.size(); ++d) {
      const auto [low, high] = std::minmax(extents[d].lower, extents[d].upper);
      if (at[d] < low || at[d] > high) return false;
    }
    return true;
  }
  static std::uint64_t size(const extent& e) {
    // The loop has no iteration.
    if (e.step > 0 ? e.upper < e.lower : e.upper > e.lower) return 0;
    return static_cast<std::uint64_t>((e.upper - e.lower) / e.step) + 1;
  }
};

void discard_doacross(omp_team& team) {
  for (doacross_table* const table : team.doacross) delete table;
  team.doacross.clear();
}

}  // namespace tutti::openmp

TUTTI_KMPC void __kmpc_doacross_init(source_place*, int, int dimensions,
                                     const doacross_table::extent* extents) {
  thread& me = self();
  omp_team& team = *me.now.team;
  const locked guard(team.task_lock);
  // The ranks come to the loops in one order, so a rank that finds no table is the first one there.
  const unsigned mine = me.now.doacross_loops++ - team.ended_doacross;
  if (mine == team.doacross.size()) {
    auto* const table = new doacross_table;
    std::uint64_t count = 1;
    for (int d = 0; d < dimensions; ++d) {
      table->extents.push_back(extents[d]);
      count *= doacross_table::size(extents[d]);
    }
    table->done.reset(new atomic<std::uint32_t>[count / 32 + 1]());
    team.doacross.push_back(table);
  }
  me.now.doacross = team.doacross[mine];
}

TUTTI_KMPC void __kmpc_doacross_wait(source_place*, int, const std::int64_t* at) {
  thread& me = self();
  doacross_table& table = *me.now.doacross;
  if (ompt::is_on())
    ompt::doacross_event(me, ompt_dependence_type_sink, {at, table.extents.size()});
  // What comes before the first iteration is nothing to wait for.
  if (me.now.team->size == 1 || !table.has(at)) return;
  const std::uint64_t i = table.index(at);
  const absence away(me, [&] {
    // relaxed: the wait below acquires.
    return (table.done[i / 32].load(tutti::relaxed) & (1u << (i % 32))) != 0;
  });
  // acquire: pairs with __kmpc_doacross_post.
  table.wait.until(me.turn_wait, table.done[i / 32], acquire,
                   [bit = 1u << (i % 32)](std::uint32_t now) { return (now & bit) != 0; });
}

TUTTI_KMPC void __kmpc_doacross_post(source_place*, int, const std::int64_t* at) {
  thread& me = self();
  doacross_table& table = *me.now.doacross;
  if (ompt::is_on())
    ompt::doacross_event(me, ompt_dependence_type_source, {at, table.extents.size()});
  if (me.now.team->size == 1) return;
  const std::uint64_t i = table.index(at);
  // seq_cst: publishes the iterations so far, and comes before the check for sleepers.
  table.done[i / 32].fetch_or(1u << (i % 32), tutti::seq_cst);
  table.wait.notify_ordered(table.done[i / 32]);
}

TUTTI_KMPC void __kmpc_doacross_fini(source_place*, int) {
  thread& me = self();
  omp_team& team = *me.now.team;
  const locked guard(team.task_lock);
  doacross_table* const table = me.now.doacross;
  me.now.doacross = nullptr;
  if (++table->ended != team.size) return;
  // Each rank has ended the loops before this one, so it is the first in the list.
  team.doacross.pop_front();
  ++team.ended_doacross;
  delete table;
}
