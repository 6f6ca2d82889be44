// SPDX-License-Identifier: Apache-2.0
// Counting barrier with two generations: it has two copies of the counter and the departure word
// and uses them in turn. So the arrivals of one episode never touch the cache lines on which late
// threads of the previous episode still depart.
//
// Cost       one fetch_add per arrival and one store, on the two lines of the current copy.
// When       up to a dozen cores with little skew. It is the software form of the HARP unit.
// When not   many cores, because arrivals queue for one line.
// Source     Hetland et al. 2019, sections 2 and 3.2.
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

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t episode = ++me.episode;
    counted_arrivals<Memory>& now = generations_[episode & 1u];
    // acq_rel: release publishes my work to the last arriver; acquire lets the last arriver pass on
    // the work of all.
    if (now.arrived.fetch_add(1, Memory::order("counting.arrive", acq_rel)) + 1 == n_) {
      // relaxed: nobody counts here again before the other copy's episode, which follows the
      // release below.
      now.arrived.store(0, relaxed);
      // release: publishes the work of all and the reset; pairs with the wait.
      now.released.store(episode, Memory::order("counting.release", release));
      wait_.notify(now.released);
      return true;
    }
    // acquire: pairs with the last arriver's release.
    return wait_.until(me.wait_state, now.released, Memory::order("counting.wait", acquire),
                       reached(episode), deadline);
  }

  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  rank_t n_;
  array<participant<Wait>> locals_;
  counted_arrivals<Memory> generations_[2];
  Wait wait_;
};

}  // namespace tutti
