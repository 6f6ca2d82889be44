// SPDX-License-Identifier: Apache-2.0
// Hypercube (also recursive doubling or butterfly): in round k rank r exchanges signals with rank
// r xor 2^k. The cube consists of the largest power of two of ranks, its corners. Each further rank
// is folded: it reports to one corner before the first round and hears from it after the last.
// Source: Arap et al., "Implementing MPI_Barrier with the NetFPGA", for the butterfly; Thakur,
// Rabenseifner and Gropp 2005 for the folding.
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
  // Returns the number of corners. Ranks 0 .. corners()-1 are corners; the others are folded.
  constexpr rank_t corners() const noexcept { return rank_t{1} << rounds_; }
  constexpr rank_t partner(rank_t round, rank_t rank) const noexcept {
    return rank ^ (rank_t{1} << round);
  }

  constexpr bool is_folded(rank_t rank) const noexcept { return rank >= corners(); }
  // Returns the corner that takes part in the rounds for a folded rank.
  constexpr rank_t corner_of(rank_t folded) const noexcept { return folded - corners(); }
  constexpr bool has_folded(rank_t corner) const noexcept { return corner + corners() < n_; }
  constexpr rank_t folded_of(rank_t corner) const noexcept { return corner + corners(); }

 private:
  rank_t n_;
  rank_t rounds_ = 0;
};

}  // namespace tutti::schedule
