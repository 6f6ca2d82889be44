// SPDX-License-Identifier: Apache-2.0
// Counted: everybody leaves its value in a slot and draws a ticket; whoever draws the last one of the episode combines
// all slots and publishes the result. Nobody waits for anybody in particular, so that a participant without a core
// holds up nobody but the last.
//
// Cost       one fetch_add an arrival, n slots read by the last, one line to all.
// When       more participants than cores.
// When not   a core for everybody: exchange.hpp, tree.hpp.
// Source     the ticket barrier (barrier/ticket.hpp) with its last arrival at work.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot as for exchange_reduction.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class counted_reduction {
 public:
  explicit counted_reduction(rank_t participants)
      : n_(participants), locals_(participants), slots_(participants), wait_(participants) {}

  // As exchange_reduction::all.
  template <class T, class Combine, class Deadline = no_deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t episode = ++me.episode;
    slots_[rank].value = mine;
    // acq_rel: publishes my value and work to the last, who sees everybody's.
    const std::uint32_t arrived = arrived_.fetch_add(1, Memory::order("counted.arrive", acq_rel));
    if (arrived + 1 == n_) {
      result = schedule::fold(
          0, n_, [&](rank_t r) { return static_cast<T>(slots_[r].value); }, combine);
      down_.value = result;
      // relaxed: the release below publishes it before anybody arrives again.
      arrived_.store(0, relaxed);
      // release: publishes the result, the count and everybody's work; pairs with the wait for it.
      down_.sent.store(episode, Memory::order("counted.release", release));
      wait_.notify(down_.sent);
      return true;
    }
    // acquire: pairs with the release.
    if (!wait_.until(me.seat, down_.sent, Memory::order("counted.wait", acquire), reached(episode),
                     deadline))
      return false;
    result = static_cast<T>(down_.value);
    return true;
  }

  rank_t participants() const noexcept { return n_; }
  // May be called at any time by any thread; waits that have begun keep theirs. False: the policy has no patience.
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
  // Side by side: written by few cores at a time, read by one.
  array<slot> slots_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> arrived_{0};
  line down_;
  Wait wait_;
};

}  // namespace tutti
