// SPDX-License-Identifier: Apache-2.0
// Sense-reversing central barrier: arrivals count down on one word; the last restores the count and flips the
// sense that the others wait on.
//
// Cost       one fetch_sub an arrival and one store; two lines, each crossing to everybody.
// When       few participants; the textbook reference.
// When not   many cores: arrivals queue for one line. The ticket barrier does the same with one line less.
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

  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t sense = ++me.episode & 1u;
    // acq_rel: release hands my work to the last arriver; acquire lets the last arriver pass on everybody's.
    if (remaining_.fetch_sub(1, Memory::order("central.arrive", acq_rel)) == 1) {
      // relaxed: read again only after the release below.
      remaining_.store(n_, relaxed);
      // release: publishes everybody's work and the restored count; pairs with the wait.
      sense_.store(sense, Memory::order("central.release", release));
      wait_.notify(sense_);
      return true;
    }
    // acquire: pairs with the last arriver's release.
    return wait_.until(
        me.seat, sense_, Memory::order("central.wait", acquire),
        [sense](std::uint32_t now) noexcept { return now == sense; }, deadline);
  }

  rank_t participants() const noexcept { return n_; }
  // May be called at any time by any thread; waits that have begun keep theirs. False: the policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  rank_t n_;
  array<participant<Wait>> locals_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> remaining_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> sense_{0};
  Wait wait_;
};

}  // namespace tutti
