// SPDX-License-Identifier: Apache-2.0
// Dissemination barrier: in each round a rank signals radix-1 ranks ahead of it and hears from as
// many behind it. All ranks do the same, and there is no release: after the last round each rank
// knows that all have arrived.
//
// Cost       ceil(log_radix n) transfers one after the other; n * (radix-1) stores in each round,
//            each on a cache line of its own.
// When       all ranks have cores of their own and arrive close together: no barrier has fewer
//            steps.
// When not   more ranks than cores: every round may need a context switch, where a central counter
//            needs one in all.
// Source     Hensgen, Finkel and Manber 1988; Mellor-Crummey and Scott 1991, algorithm 9; Hetland
//            et al. 2019.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/dissemination.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class dissemination_barrier {
 public:
  // Throws std::invalid_argument if `radix` is less than 2.
  explicit dissemination_barrier(rank_t participants, rank_t radix = 2)
      : schedule_(participants, radix),
        locals_(participants),
        flags_(std::size_t{participants} * flags_of_rank()),
        wait_(participants) {}

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t episode = ++me.episode;
    for (rank_t round = 0; round < schedule_.rounds(); ++round) {
      const rank_t partners = schedule_.partners(round);
      for (rank_t j = 1; j <= partners; ++j) {
        auto& ahead = flag(schedule_.to(round, rank, j), round, j);
        // release: publishes my work and all that I heard in earlier rounds; pairs with the wait.
        ahead.store(episode, Memory::order("dissemination.signal", release));
        wait_.notify(ahead);
      }
      for (rank_t j = 1; j <= partners; ++j)
        // acquire: pairs with the signal of the rank behind, which may be one episode ahead
        // already, but never two.
        if (!wait_.until(me.wait_state, flag(rank, round, j),
                         Memory::order("dissemination.wait", acquire), reached(episode), deadline))
          return false;
    }
    return true;
  }

  rank_t participants() const noexcept { return schedule_.participants(); }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  using word = typename Memory::template atomic<std::uint32_t>;

  rank_t flags_of_rank() const noexcept { return schedule_.rounds() * (schedule_.radix() - 1); }
  word& flag(rank_t rank, rank_t round, rank_t j) noexcept {
    return flags_[std::size_t{rank} * flags_of_rank() + round * (schedule_.radix() - 1) + j - 1]
        .value;
  }

  schedule::dissemination schedule_;
  array<participant<Wait>> locals_;
  array<padded<word>> flags_;
  Wait wait_;
};

}  // namespace tutti
