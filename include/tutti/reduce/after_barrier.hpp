// SPDX-License-Identifier: Apache-2.0
// Values left in slots, then any barrier, then everybody who wants the result combines the slots itself: what a program
// does that has a barrier and no reduction, and how paper 002 lets its master sum.
//
// Cost       the barrier, then n slots read, one transfer each.
// When       the barrier is given; all-gather and scan for many participants.
// When not   otherwise: the values could have travelled with the arrivals (exchange.hpp, tree.hpp).
// Source     paper 002, section III.E.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti {

// Barrier has arrive_and_wait(rank, deadline), as those of the registry and any_barrier. Slot as for
// exchange_reduction.
template <class Slot, class Barrier, class Memory = native>
class after_barrier_reduction {
 public:
  explicit after_barrier_reduction(Barrier& barrier, rank_t participants)
      : barrier_(barrier), n_(participants), slots_(participants) {}

  // As exchange_reduction::gather.
  template <class T, class Read, class Deadline>
  bool gather(rank_t rank, const T& mine, Read&& read, Deadline deadline) {
    slot& own = slots_[rank];
    // In turn: nobody leaves a value in the episode after the next before I have arrived in the next, and read this.
    const std::uint32_t turn = own.turn = 1 - own.turn;
    own.value[turn] = mine;
    if (!barrier_.arrive_and_wait(rank, deadline)) return false;
    read([&](rank_t other) { return static_cast<T>(slots_[other].value[turn]); });
    return true;
  }

  // As exchange_reduction::all.
  template <class T, class Combine, class Deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline) {
    return gather(
        rank, mine, [&](auto get) { result = schedule::fold(0, n_, get, combine); }, deadline);
  }

  rank_t participants() const noexcept { return n_; }

 private:
  struct alignas(cache_line) slot {
    std::uint32_t turn = 0;  // of the owner alone
    typename Memory::template plain<Slot> value[2]{};
  };

  Barrier& barrier_;
  rank_t n_;
  array<slot> slots_;
};

}  // namespace tutti
