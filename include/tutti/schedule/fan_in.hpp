// SPDX-License-Identifier: Apache-2.0
// A fan-in tree over blocks of ranks: in round k the first rank of each block of fan^(k+1) ranks
// collects from the first ranks of the blocks of fan^k ranks in it. Because the fan is a power of
// two, a collector always holds a whole subtree of the tournament (tournament.hpp), so values that
// are combined on the way give the same result as values combined in pairs.
#pragma once

#include "tutti/schedule/arithmetic.hpp"

namespace tutti::schedule {

class fan_in {
 public:
  // `fan` must be a power of two; that is not checked.
  constexpr fan_in(rank_t participants, rank_t fan) noexcept
      : n_(participants), fan_(fan), rounds_(ceil_log(participants, fan)) {}

  constexpr rank_t participants() const noexcept { return n_; }
  constexpr rank_t rounds() const noexcept { return rounds_; }

  // Returns the number of rounds in which `rank` collects before it reports. Rank 0 collects in all
  // rounds() and reports to nobody.
  constexpr rank_t rounds_collected(rank_t rank) const noexcept {
    rank_t round = 0;
    while (round < rounds_ && rank % stride(round + 1) == 0) ++round;
    return round;
  }
  // Returns how many ranks report to `rank` in a round in which it collects.
  constexpr rank_t children(rank_t round, rank_t rank) const noexcept {
    rank_t count = 0;
    while (count + 1 < fan_ && rank + (count + 1) * stride(round) < n_) ++count;
    return count;
  }
  // Returns the i-th of them, i = 0 .. children(round, rank) - 1.
  constexpr rank_t child(rank_t round, rank_t rank, rank_t i) const noexcept {
    return static_cast<rank_t>(rank + (i + 1) * stride(round));
  }

 private:
  constexpr std::uint64_t stride(rank_t round) const noexcept {
    std::uint64_t s = 1;
    for (; round > 0; --round) s *= fan_;
    return s;
  }

  rank_t n_, fan_, rounds_;
};

}  // namespace tutti::schedule
