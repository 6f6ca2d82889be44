// SPDX-License-Identifier: Apache-2.0
// MCS static tree barrier: every rank is a node. It waits for its children in the arrival tree, at
// most four, and reports to its parent. Then it waits for its parent in the release tree and wakes
// its children there, at most two. It needs no read-modify-write.
//
// Cost       log_4(n) transfers up and log_2(n) down, one after the other; 2n-2 stores in all,
//            which is the minimum.
// When       many cores, and machines on which a read-modify-write is expensive.
// When not   few participants, for which one word is enough.
// Source     Mellor-Crummey and Scott 1991, algorithm 11.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/tree.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>, rank_t FanIn = 4,
          rank_t FanOut = 2>
class mcs_barrier {
 public:
  explicit mcs_barrier(rank_t participants)
      : in_(participants, FanIn),
        out_(participants, FanOut),
        nodes_(participants),
        wait_(participants) {}

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    node& me = nodes_[rank];
    const std::uint32_t episode = ++me.local.episode;
    for (rank_t place = 0; place < in_.children(rank); ++place)
      // acquire: pairs with the child's arrival, for its whole subtree.
      if (!wait_.until(me.local.collecting, me.arrived[place],
                       Memory::order("mcs.collect", acquire), reached(episode), deadline))
        return false;
    if (rank != 0) {
      auto& report = nodes_[in_.parent(rank)].arrived[in_.place(rank)];
      // release: publishes my subtree's work; pairs with the parent's collect.
      report.store(episode, Memory::order("mcs.arrive", release));
      wait_.notify(report);
      // acquire: pairs with the parent's release.
      if (!wait_.until(me.local.wait_state, me.released, Memory::order("mcs.wait", acquire),
                       reached(episode), deadline))
        return false;
    }
    for (rank_t place = 0; place < out_.children(rank); ++place) {
      auto& wake = nodes_[out_.child(rank, place)].released;
      // release: publishes the work of all; pairs with the child's wait.
      wake.store(episode, Memory::order("mcs.release", release));
      wait_.notify(wake);
    }
    return true;
  }

  rank_t participants() const noexcept { return in_.participants(); }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct node {
    // The children's reports share a cache line: the parent polls them in turn and seldom reads the
    // line more than once for each.
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived[FanIn]{};
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> released{0};
    participant<Wait> local;
  };

  schedule::tree in_, out_;
  array<node> nodes_;
  Wait wait_;
};

}  // namespace tutti
