// SPDX-License-Identifier: Apache-2.0
// The chain of constructs whose work the threads of a crew share.
#include <cstdlib>

#include "preload/openmp/work.hpp"

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

}  // namespace tutti::openmp
