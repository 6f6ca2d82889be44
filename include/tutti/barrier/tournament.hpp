// SPDX-License-Identifier: Apache-2.0
// Tournament barrier: in each round the remaining ranks form pairs; the loser of a pair reports to
// the winner and waits. The champion, rank 0, starts the release, and each winner releases the
// ranks that it beat, those of the last round first.
//
// Cost       ceil(log2 n) transfers up and as many down, one after the other; 2n-2 stores, no
//            read-modify-write.
// When       many cores: the best software barrier of Hetland et al. 2019 on three of their four
//            machines.
// When not   few participants, or more participants than cores, because every level may need a
//            context switch.
// Source     Hensgen, Finkel and Manber 1988; Lubachevsky 1989; Hetland et al. 2019.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class tournament_barrier {
 public:
  explicit tournament_barrier(rank_t participants)
      : game_(participants), players_(participants), wait_(participants) {}

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    player& me = players_[rank];
    const std::uint32_t episode = ++me.local.episode;
    const rank_t won = game_.rounds_won(rank);
    for (rank_t round = 0; round < won && game_.has_opponent(round, rank); ++round)
      // acquire: pairs with the loser's report, for all ranks that it beat.
      if (!wait_.until(me.local.collecting, players_[game_.opponent(round, rank)].lost,
                       Memory::order("tournament.collect", acquire), reached(episode), deadline))
        return false;
    if (rank != 0) {
      // release: publishes my work and that of all ranks that I beat; pairs with the winner's
      // collect.
      me.lost.store(episode, Memory::order("tournament.arrive", release));
      wait_.notify(me.lost);
      // acquire: pairs with the winner's release.
      if (!wait_.until(me.local.wait_state, me.released, Memory::order("tournament.wait", acquire),
                       reached(episode), deadline))
        return false;
    }
    for (rank_t round = won; round-- > 0;) {
      if (!game_.has_opponent(round, rank)) continue;
      auto& wake = players_[game_.opponent(round, rank)].released;
      // release: publishes the work of all; pairs with the loser's wait.
      wake.store(episode, Memory::order("tournament.release", release));
      wait_.notify(wake);
    }
    return true;
  }

  rank_t participants() const noexcept { return game_.participants(); }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct player {
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> lost{0};
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> released{0};
    participant<Wait> local;
  };

  schedule::tournament game_;
  array<player> players_;
  Wait wait_;
};

}  // namespace tutti
