// SPDX-License-Identifier: Apache-2.0
// Sense-reversing central barrier: arrivals decrement one counter. The last arrival restores the
// counter and flips the sense, the word on which the others wait.
//
// Cost       one fetch_sub per arrival and one store, on two cache lines that travel to all
//            participants.
// When       few participants. It is the textbook reference.
// When not   many cores, because arrivals queue for one line. The ticket barrier does the same with
//            one line less.
// Source     Mellor-Crummey and Scott 1991, algorithm 7.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class central_barrier {
 public:
  explicit central_barrier(rank_t participants)
      : n_(participants), locals_(participants), remaining_(participants), wait_(participants) {}

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t sense = ++me.episode & 1u;
    // acq_rel: release publishes my work to the last arriver; acquire lets the last arriver pass on
    // the work of all.
    if (remaining_.fetch_sub(1, Memory::order("central.arrive", acq_rel)) == 1) {
      // relaxed: the others read it again only after the release below.
      remaining_.store(n_, relaxed);
      // release: publishes the work of all and the restored count; pairs with the wait.
      sense_.store(sense, Memory::order("central.release", release));
      wait_.notify(sense_);
      return true;
    }
    // acquire: pairs with the last arriver's release.
    return wait_.until(
        me.wait_state, sense_, Memory::order("central.wait", acquire),
        [sense](std::uint32_t now) noexcept { return now == sense; }, deadline);
  }

  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  rank_t n_;
  array<participant<Wait>> locals_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> remaining_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> sense_{0};
  Wait wait_;
};

}  // namespace tutti
