// SPDX-License-Identifier: Apache-2.0
// Counting barrier with two generations: two copies of counter and departure word, used in turn, so that the
// arrivals of one episode never touch the lines on which the stragglers of the last still depart.
//
// Cost       one fetch_add an arrival and one store; two lines of the copy in turn.
// When       up to a dozen cores with little skew; the software twin of the HARP unit.
// When not   many cores: arrivals queue for one line.
// Source     paper 000, sections 2 and 3.2.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class counting_barrier {
 public:
  explicit counting_barrier(rank_t participants)
      : n_(participants), locals_(participants), wait_(participants) {}

  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t episode = ++me.episode;
    generation& now = generations_[episode & 1u];
    // acq_rel: release hands my work to the last arriver; acquire lets the last arriver pass on everybody's.
    if (now.arrived.fetch_add(1, Memory::order("counting.arrive", acq_rel)) + 1 == n_) {
      // relaxed: nobody counts here again before the other copy's episode, which follows the release below.
      now.arrived.store(0, relaxed);
      // release: publishes everybody's work and the reset; pairs with the wait.
      now.departing.store(episode, Memory::order("counting.release", release));
      wait_.notify(now.departing);
      return true;
    }
    // acquire: pairs with the last arriver's release.
    return wait_.until(me.seat, now.departing, Memory::order("counting.wait", acquire),
                       reached(episode), deadline);
  }

  rank_t participants() const noexcept { return n_; }
  // May be called at any time by any thread; waits that have begun keep theirs. False: the policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct generation {
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived{0};
    alignas(cache_line) typename Memory::template atomic<std::uint32_t> departing{0};
  };

  rank_t n_;
  array<participant<Wait>> locals_;
  generation generations_[2];
  Wait wait_;
};

}  // namespace tutti
