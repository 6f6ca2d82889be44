// SPDX-License-Identifier: Apache-2.0
// Dissemination: the ranks form a ring. In round k each rank signals the ranks that are
// j * radix^k ahead of it, for j = 1 .. radix-1. After round k a rank has heard, directly or
// through others, from the radix^(k+1) - 1 ranks behind it, so ceil(log_radix n) rounds suffice for
// any n.
// Source: Hensgen, Finkel and Manber 1988; Hoefler et al. 2006 for the radix (n-way dissemination).
#pragma once

#include "tutti/platform/misuse.hpp"
#include "tutti/schedule/arithmetic.hpp"

namespace tutti::schedule {

class dissemination {
 public:
  // Throws std::invalid_argument if `radix` is less than 2.
  explicit constexpr dissemination(rank_t participants, rank_t radix = 2)
      : n_(participants), radix_(radix), rounds_(rounds_for(participants, radix)) {
    rank_t hop = 1;
    for (rank_t round = 0; round < rounds_; ++round, hop *= radix_) {
      const rank_t needed = ceil_div(n_, hop) - 1;
      hops_[round] = hop;
      partners_[round] = needed < radix_ - 1 ? needed : radix_ - 1;
    }
  }

  constexpr rank_t participants() const noexcept { return n_; }
  constexpr rank_t radix() const noexcept { return radix_; }
  constexpr rank_t rounds() const noexcept { return rounds_; }

  // Returns the distance of the nearest partner in a round, radix^round.
  constexpr rank_t hop(rank_t round) const noexcept { return hops_[round]; }
  // Returns the number of partners in a round. The last round may need fewer than radix - 1.
  constexpr rank_t partners(rank_t round) const noexcept { return partners_[round]; }

  // Return the j-th rank (j = 1 .. partners) that `rank` signals and the j-th that it hears from.
  // They are inverse to each other: from(round, to(round, r, j), j) == r.
  constexpr rank_t to(rank_t round, rank_t rank, rank_t j) const noexcept {
    // The sum stays below 2n because j * hop < n.
    const rank_t ahead = rank + j * hops_[round];
    return ahead < n_ ? ahead : ahead - n_;
  }
  constexpr rank_t from(rank_t round, rank_t rank, rank_t j) const noexcept {
    const rank_t distance = j * hops_[round];
    return rank >= distance ? rank - distance : rank + n_ - distance;
  }

 private:
  // Radix 2 needs this many rounds for the largest 32-bit n.
  static constexpr rank_t most_rounds = 32;

  static constexpr rank_t rounds_for(rank_t participants, rank_t radix) {
    require(radix >= 2, "the radix of a dissemination is at least 2");
    return ceil_log(participants, radix);
  }

  rank_t n_, radix_, rounds_;
  rank_t hops_[most_rounds]{};
  rank_t partners_[most_rounds]{};
};

}  // namespace tutti::schedule
