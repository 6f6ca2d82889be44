// SPDX-License-Identifier: Apache-2.0
// Reduction after a barrier: participants leave their values in slots and pass any barrier; then
// each participant that wants the result combines the slots itself. A program that has a barrier
// and no reduction does this, and so does the master of Berger and Stamatakis.
//
// Cost       the barrier, and then the reads of n slots with one transfer each.
// When       the barrier is given; all-gather and scan for many participants.
// When not   otherwise, because values can travel with the arrivals (exchange.hpp, tree.hpp).
// Source     Berger and Stamatakis, section III.E.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti {

// Barrier must have arrive_and_wait(rank, deadline), like the barriers of the registry and
// any_barrier. Slot has the meaning that it has for exchange_reduction.
template <class Slot, class Barrier, class Memory = native>
class after_barrier_reduction {
 public:
  // `barrier` must be for `participants` ranks and outlive this object.
  explicit after_barrier_reduction(Barrier& barrier, rank_t participants)
      : barrier_(barrier), n_(participants), slots_(participants) {}

  // Does what exchange_reduction::gather does.
  template <class T, class Read, class Deadline>
  bool gather(rank_t rank, const T& mine, Read&& read, Deadline deadline) {
    slot& own = slots_[rank];
    // Two values take turns: no participant leaves a value of the episode after the next before I
    // have arrived in the next episode, and so have read this one.
    const std::uint32_t turn = own.turn = 1 - own.turn;
    own.value[turn] = mine;
    if (!barrier_.arrive_and_wait(rank, deadline)) return false;
    read([&](rank_t other) { return static_cast<T>(slots_[other].value[turn]); });
    return true;
  }

  // Does what exchange_reduction::all does.
  template <class T, class Combine, class Deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline) {
    return gather(
        rank, mine, [&](auto get) { result = schedule::fold(0, n_, get, combine); }, deadline);
  }

  rank_t participants() const noexcept { return n_; }

 private:
  struct alignas(cache_line) slot {
    // Only the owner uses it.
    std::uint32_t turn = 0;
    typename Memory::template plain<Slot> value[2]{};
  };

  Barrier& barrier_;
  rank_t n_;
  array<slot> slots_;
};

}  // namespace tutti
