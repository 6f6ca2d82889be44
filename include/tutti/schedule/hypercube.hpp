// SPDX-License-Identifier: Apache-2.0
// Hypercube (recursive doubling, butterfly): in round k rank r exchanges with r xor 2^k. Works on the largest power
// of two ranks; each rank beyond folds into one of them before the first round and is told after the last.
// Source: paper 001 (butterfly); Thakur, Rabenseifner and Gropp 2005 (folding).
#pragma once

#include "tutti/schedule/arithmetic.hpp"

namespace tutti::schedule {

class hypercube {
 public:
  explicit constexpr hypercube(rank_t participants) noexcept : n_(participants) {
    while ((rank_t{2} << rounds_) <= n_) ++rounds_;
  }

  constexpr rank_t participants() const noexcept { return n_; }
  constexpr rank_t rounds() const noexcept { return rounds_; }
  // Ranks 0 .. corners()-1 are on the cube; the others are folded.
  constexpr rank_t corners() const noexcept { return rank_t{1} << rounds_; }
  constexpr rank_t partner(rank_t round, rank_t rank) const noexcept {
    return rank ^ (rank_t{1} << round);
  }

  constexpr bool is_folded(rank_t rank) const noexcept { return rank >= corners(); }
  // The corner that stands in for a folded rank.
  constexpr rank_t corner_of(rank_t folded) const noexcept { return folded - corners(); }
  constexpr bool has_folded(rank_t corner) const noexcept { return corner + corners() < n_; }
  constexpr rank_t folded_of(rank_t corner) const noexcept { return corner + corners(); }

 private:
  rank_t n_;
  rank_t rounds_ = 0;
};

}  // namespace tutti::schedule
