// SPDX-License-Identifier: Apache-2.0
// Tournament: in round k the ranks that are still in meet in pairs 2^k apart; the lower one wins and goes on, the
// higher one reports to it and is out. ceil(log2 n) rounds; who wins is decided before the game, so nobody needs
// an atomic read-modify-write. Source: Hensgen, Finkel and Manber 1988; Lubachevsky 1989.
#pragma once

#include "tutti/schedule/arithmetic.hpp"

namespace tutti::schedule {

class tournament {
 public:
  explicit constexpr tournament(rank_t participants) noexcept
      : n_(participants), rounds_(ceil_log(participants, 2)) {}

  constexpr rank_t participants() const noexcept { return n_; }
  constexpr rank_t rounds() const noexcept { return rounds_; }

  // The round in which a rank loses; rounds() for the champion, rank 0.
  constexpr rank_t rounds_won(rank_t rank) const noexcept {
    if (rank == 0) return rounds_;
    rank_t round = 0;
    while ((rank >> round & 1u) == 0) ++round;
    return round;
  }
  // Whom a rank beats in a round that it wins; false if it has no opponent (a bye).
  constexpr bool has_opponent(rank_t round, rank_t rank) const noexcept {
    return std::uint64_t{rank} + (std::uint64_t{1} << round) < n_;
  }
  constexpr rank_t opponent(rank_t round, rank_t rank) const noexcept {
    return rank + (rank_t{1} << round);
  }
  // To whom a rank loses. Not for the champion.
  constexpr rank_t winner_over(rank_t rank) const noexcept { return rank & (rank - 1); }

 private:
  rank_t n_, rounds_;
};

// Combines get(first) .. get(first + count - 1) as a tournament does, ((0 + 1) + (2 + 3)) + ...: the one order of all
// reductions, so that they have the same bits whichever way the values travelled. count >= 1.
template <class Get, class Combine>
constexpr auto fold(rank_t first, rank_t count, Get&& get, Combine&& combine) {
  if (count == 1) return get(first);
  if (count == 2) return combine(get(first), get(first + 1));
  rank_t half = 1;  // the largest power of two below count: whole subtrees on the left
  while (half < count - half) half *= 2;
  return combine(fold(first, half, get, combine), fold(first + half, count - half, get, combine));
}

}  // namespace tutti::schedule
