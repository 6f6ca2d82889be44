// SPDX-License-Identifier: Apache-2.0
// Tournament: in round k the remaining ranks form pairs that are 2^k apart. The lower rank of a
// pair wins and goes on; the higher rank loses, reports to the winner and takes part no longer.
// There are ceil(log2 n) rounds, and rank 0, the champion, wins them all. Because the winners are
// known beforehand, no rank needs an atomic read-modify-write.
// Source: Hensgen, Finkel and Manber 1988; Lubachevsky 1989.
#pragma once

#include "tutti/schedule/arithmetic.hpp"

namespace tutti::schedule {

class tournament {
 public:
  explicit constexpr tournament(rank_t participants) noexcept
      : n_(participants), rounds_(ceil_log(participants, 2)) {}

  constexpr rank_t participants() const noexcept { return n_; }
  constexpr rank_t rounds() const noexcept { return rounds_; }

  // Returns the round in which a rank loses, or rounds() for rank 0.
  constexpr rank_t rounds_won(rank_t rank) const noexcept {
    if (rank == 0) return rounds_;
    rank_t round = 0;
    while ((rank >> round & 1u) == 0) ++round;
    return round;
  }
  // Tells whether a rank has an opponent in a round that it wins, and which. Without an opponent
  // the rank goes on alone (a bye).
  constexpr bool has_opponent(rank_t round, rank_t rank) const noexcept {
    return std::uint64_t{rank} + (std::uint64_t{1} << round) < n_;
  }
  constexpr rank_t opponent(rank_t round, rank_t rank) const noexcept {
    return rank + (rank_t{1} << round);
  }
  // Returns the rank to which `rank` loses. `rank` must not be 0.
  constexpr rank_t winner_over(rank_t rank) const noexcept { return rank & (rank - 1); }

 private:
  rank_t n_, rounds_;
};

// Combines get(first) .. get(first + count - 1) in the order of a tournament, ((0 + 1) + (2 + 3)) +
// ... All reductions use this order, so the result has the same bits whichever way the values
// travelled. `count` must be at least 1.
template <class Get, class Combine>
constexpr auto fold(rank_t first, rank_t count, Get&& get, Combine&& combine) {
  if (count == 1) return get(first);
  if (count == 2) return combine(get(first), get(first + 1));
  // The largest power of two below count, so that the left side consists of whole subtrees.
  rank_t half = 1;
  while (half < count - half) half *= 2;
  return combine(fold(first, half, get, combine), fold(first + half, count - half, get, combine));
}

}  // namespace tutti::schedule
