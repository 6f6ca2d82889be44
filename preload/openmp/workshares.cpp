// SPDX-License-Identifier: Apache-2.0
#include "preload/openmp/workshares.hpp"

#include <cstdlib>

#include "preload/openmp/loops.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"

namespace tutti::openmp {
namespace {

workshare* new_workshare(thread& me, const plan& wanted, unsigned threads) {
  workshare* const s = me.free_workshares.take();
  static_cast<iterations&>(*s) = wanted;
  s->reductions = wanted.reductions;
  s->extents = wanted.extents;
  // relaxed: publishing the construct publishes them.
  s->next.store(nullptr, relaxed);
  s->passed.store(0, relaxed);
  s->taken.store(0, relaxed);
  s->turn.store(0, relaxed);
  s->chunks = 0;
  if (wanted.memory_bytes != 0) s->memory = std::calloc(1, wanted.memory_bytes);
  // A single thread waits for nobody. (GCC 12 passes wrong numbers of unsigned iterations.)
  if (!wanted.extents.empty() && threads > 1) {
    std::uint64_t entries = threads;
    if (wanted.schedule == schedule_guided) entries = wanted.extents[0];
    if (wanted.schedule == schedule_dynamic) entries = wanted.extents[0] / wanted.chunk + 1;
    s->progress = new atomic<std::uint64_t>[entries]();
  }
  return s;
}

void recycle(thread& me, workshare* s) {
  std::free(s->memory);
  s->memory = nullptr;
  delete[] s->progress;
  s->progress = nullptr;
  me.free_workshares.give(s);
}

}  // namespace

workshare& next_workshare(thread& me, const plan& wanted, bool& is_first) {
  omp_team& team = *me.now.team;
  workshare* const last = me.now.last_workshare;
  // acquire: pairs with the exchange of the thread that made it.
  workshare* next = last->next.load(acquire);
  is_first = false;
  if (next == nullptr) {
    workshare* const mine = new_workshare(me, wanted, team.size);
    // acq_rel: publishes it; and see above. acquire: see above.
    if (last->next.compare_exchange_strong(next, mine, acq_rel, acquire)) {
      next = mine;
      is_first = true;
    } else {
      recycle(me, mine);
    }
  }
  me.now.last_workshare = next;
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

workshare* make_first_workshare(thread& me, omp_team& team, const plan& wanted) {
  workshare* const first = new_workshare(me, wanted, team.size);
  // relaxed: the opening of the region publishes it.
  team.oldest.store(first, relaxed);
  return first;
}

void free_workshares(thread& me, omp_team& team) {
  // relaxed: all ranks have ended their parts.
  workshare* s = team.oldest.load(relaxed);
  // relaxed: see above.
  if (s == nullptr) s = team.root.next.load(relaxed);
  if (s == nullptr) return;
  while (s != nullptr) {
    // relaxed: see above.
    workshare* const next = s->next.load(relaxed);
    recycle(me, s);
    s = next;
  }
  // relaxed: see above.
  team.oldest.store(nullptr, relaxed);
  team.root.next.store(nullptr, relaxed);
  team.root.passed.store(0, relaxed);
}

}  // namespace tutti::openmp
