// SPDX-License-Identifier: Apache-2.0
// Counted reduction: each participant leaves its value in a slot and draws a ticket. The
// participant that draws the last ticket of the episode combines all slots and publishes the
// result. No participant waits for a particular other one, so one without a core delays only the
// last arrival.
//
// Cost       one fetch_add per arrival, n slots that the last arrival reads, and one cache line
//            that all read.
// When       more participants than cores.
// When not   each participant has a core: exchange.hpp and tree.hpp are faster.
// Source     the ticket barrier (barrier/ticket.hpp), whose last arrival here combines the values.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot has the meaning that it has for exchange_reduction.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class counted_reduction {
 public:
  explicit counted_reduction(rank_t participants)
      : n_(participants), locals_(participants), slots_(participants), wait_(participants) {}

  // Does what exchange_reduction::all does.
  template <class T, class Combine, class Deadline = no_deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t episode = ++me.episode;
    slots_[rank].value = mine;
    // acq_rel: release publishes my value and work to the last arrival; acquire lets the last
    // arrival see those of all.
    const std::uint32_t arrived = arrived_.fetch_add(1, Memory::order("counted.arrive", acq_rel));
    if (arrived + 1 == n_) {
      result = schedule::fold(
          0, n_, [&](rank_t r) { return static_cast<T>(slots_[r].value); }, combine);
      down_.value = result;
      // relaxed: the release below publishes it before a participant arrives again.
      arrived_.store(0, relaxed);
      // release: publishes the result, the count and the work of all; pairs with the wait below.
      down_.sent.store(episode, Memory::order("counted.release", release));
      wait_.notify(down_.sent);
      return true;
    }
    // acquire: pairs with the release.
    if (!wait_.until(me.wait_state, down_.sent, Memory::order("counted.wait", acquire),
                     reached(episode), deadline))
      return false;
    result = static_cast<T>(down_.value);
    return true;
  }

  rank_t participants() const noexcept { return n_; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct slot {
    typename Memory::template plain<Slot> value{};
  };
  struct alignas(cache_line) line {
    typename Memory::template atomic<std::uint32_t> sent{0};
    typename Memory::template plain<Slot> value{};
  };

  rank_t n_;
  array<participant<Wait>> locals_;
  // The slots are packed: few cores write at a time, and one core reads.
  array<slot> slots_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived_{0};
  line down_;
  Wait wait_;
};

}  // namespace tutti
