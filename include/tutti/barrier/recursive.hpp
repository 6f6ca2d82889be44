// SPDX-License-Identifier: Apache-2.0
// Recursive lock-free barrier: the flags of flags.hpp, collected along a binary reduction tree. The
// master reads log2(n) of them and releases all workers with one word.
//
// Cost       ceil(log2 n) transfers one after the other to collect; one store and n-1 transfers to
//            release.
// When       a dozen or more cores with a master. A reduction can use the same tree.
// When not   two to four participants: flags.hpp costs the same and is simpler.
// Source     Berger and Stamatakis, section III.B.
#pragma once

#include "tutti/barrier/master.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>, bool Padded = false>
class recursive_barrier
    : public master_barrier<recursive_barrier<Memory, Wait, Padded>, Memory, Wait> {
 public:
  explicit recursive_barrier(rank_t n)
      : recursive_barrier::master_barrier(n), tree_(n), flags_(n) {}

  template <class Deadline = no_deadline>
  bool collect(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = this->locals_[rank];
    const rank_t won = tree_.rounds_won(rank);
    for (rank_t round = 0; round < won && tree_.has_opponent(round, rank); ++round)
      // acquire: pairs with the opponent's arrival, for its whole subtree.
      if (!this->wait_.until(me.collecting, flags_[tree_.opponent(round, rank)],
                             Memory::order("recursive.collect", acquire), reached(me.episode),
                             deadline))
        return false;
    if (rank == 0) return true;
    // release: publishes my work and that of my subtree; pairs with the winner's collect above.
    flags_[rank].store(me.episode, Memory::order("recursive.arrive", release));
    this->wait_.notify(flags_[rank]);
    return true;
  }

 private:
  schedule::tournament tree_;
  rank_flags<Memory, Padded> flags_;
};

template <class Memory = native, class Wait = adaptive_wait<Memory>>
using recursive_padded_barrier = recursive_barrier<Memory, Wait, true>;

}  // namespace tutti
