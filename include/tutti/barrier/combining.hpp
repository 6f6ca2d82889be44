// SPDX-License-Identifier: Apache-2.0
// Combining tree barrier: each group of `fan` participants counts its arrivals on a node. The last
// of a group goes on to the parent node, and the others wait at their node. The participant that
// completes the root releases the nodes on its way back down.
//
// Cost       log_fan(n) fetch_adds one after the other, each on a cache line that only `fan`
//            participants share, and as many stores on the way down.
// When       many cores and arrivals close together, because `fan` limits the contention.
// When not   few participants, for which one counter is enough.
// Source     Yew, Tzeng and Lawrie 1987; Mellor-Crummey and Scott 1991, algorithm 8.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/schedule/arithmetic.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class combining_barrier {
 public:
  // Throws std::invalid_argument if `fan` is less than 2.
  explicit combining_barrier(rank_t participants, rank_t fan = 4)
      : n_(participants),
        fan_(fan),
        locals_(participants),
        nodes_(count_nodes(participants, fan)),
        wait_(participants) {
    link_nodes();
  }

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    return climb(nodes_[rank / fan_], me, ++me.episode, deadline);
  }

  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct node {
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived{0};
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> released{0};
    rank_t members = 0;
    node* parent = nullptr;
  };

  template <class Deadline>
  bool climb(node& at, participant<Wait>& me, std::uint32_t episode, Deadline deadline) {
    // acq_rel: release publishes my subtree's work to the last of the group; acquire lets the last
    // take the group's work upwards.
    if (at.arrived.fetch_add(1, Memory::order("combining.arrive", acq_rel)) + 1 < at.members)
      // acquire: pairs with the release of this node.
      return wait_.until(me.wait_state, at.released, Memory::order("combining.wait", acquire),
                         reached(episode), deadline);
    if (at.parent != nullptr && !climb(*at.parent, me, episode, deadline)) return false;
    // relaxed: no participant counts here again before the release below.
    at.arrived.store(0, relaxed);
    // release: publishes the work of all, which I acquired, and the reset; pairs with the group's
    // waits.
    at.released.store(episode, Memory::order("combining.release", release));
    wait_.notify(at.released);
    return true;
  }

  static rank_t count_nodes(rank_t participants, rank_t fan) {
    require(fan >= 2, "the fan of a combining tree is at least 2");
    rank_t nodes = 0;
    for (rank_t level = schedule::ceil_div(participants, fan);;
         level = schedule::ceil_div(level, fan)) {
      nodes += level;
      if (level == 1) return nodes;
    }
  }

  // Stores the nodes level by level from the leaves; the members of a node are consecutive.
  void link_nodes() noexcept {
    rank_t first = 0;
    for (rank_t members = n_;;) {
      const rank_t level = schedule::ceil_div(members, fan_);
      for (rank_t i = 0; i < level; ++i) {
        node& at = nodes_[first + i];
        at.members = i + 1 < level ? fan_ : members - i * fan_;
        if (level > 1) at.parent = &nodes_[first + level + i / fan_];
      }
      if (level == 1) return;
      first += level;
      members = level;
    }
  }

  rank_t n_, fan_;
  array<participant<Wait>> locals_;
  array<node> nodes_;
  Wait wait_;
};

}  // namespace tutti
