// SPDX-License-Identifier: Apache-2.0
// MCS static tree barrier: every rank is a node; it waits for its up to four children in the arrival tree, tells its
// parent, waits for its parent in the release tree and wakes its two children there. No read-modify-write at all.
//
// Cost       log_4(n) transfers up, log_2(n) down, one after the other; 2n-2 stores in all, the minimum.
// When       many cores, and machines where read-modify-write is dear.
// When not   few participants: depth where one word would do.
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
      if (!wait_.until(me.local.seat, me.released, Memory::order("mcs.wait", acquire),
                       reached(episode), deadline))
        return false;
    }
    for (rank_t place = 0; place < out_.children(rank); ++place) {
      auto& wake = nodes_[out_.child(rank, place)].released;
      // release: passes on everybody's work; pairs with the child's wait.
      wake.store(episode, Memory::order("mcs.release", release));
      wait_.notify(wake);
    }
    return true;
  }

  rank_t participants() const noexcept { return in_.participants(); }
  // May be called at any time by any thread; waits that have begun keep theirs. False: the policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct node {
    // The children's reports share a line: the parent polls them in turn and reads it seldom more than once each.
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived[FanIn]{};
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> released{0};
    participant<Wait> local;
  };

  schedule::tree in_, out_;
  array<node> nodes_;
  Wait wait_;
};

}  // namespace tutti
