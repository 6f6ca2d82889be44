// SPDX-License-Identifier: Apache-2.0
// A complete tree over the ranks with any fan: rank 0 is the root, and the children of rank r are
// r*fan+1 .. r*fan+fan. Use two trees if the fan-in of the arrivals and the fan-out of the release
// differ.
// Source: Mellor-Crummey and Scott 1991 (fan-in 4, fan-out 2).
#pragma once

#include "tutti/platform/misuse.hpp"
#include "tutti/schedule/arithmetic.hpp"

namespace tutti::schedule {

class tree {
 public:
  // Throws std::invalid_argument if `fan` is 0.
  constexpr tree(rank_t participants, rank_t fan) : n_(participants), fan_(fan) {
    require(fan >= 1, "the fan of a tree is at least 1");
  }

  constexpr rank_t participants() const noexcept { return n_; }
  constexpr rank_t fan() const noexcept { return fan_; }

  // `rank` must not be the root, here and in place().
  constexpr rank_t parent(rank_t rank) const noexcept { return (rank - 1) / fan_; }
  // Returns the position of a rank among its parent's children, 0 .. fan-1.
  constexpr rank_t place(rank_t rank) const noexcept { return (rank - 1) % fan_; }
  constexpr rank_t child(rank_t rank, rank_t place) const noexcept {
    return rank * fan_ + 1 + place;
  }
  constexpr rank_t children(rank_t rank) const noexcept {
    const std::uint64_t first = std::uint64_t{rank} * fan_ + 1;
    if (first >= n_) return 0;
    const rank_t left = n_ - static_cast<rank_t>(first);
    return left < fan_ ? left : fan_;
  }
  // Returns the number of levels below the root.
  constexpr rank_t depth() const noexcept {
    rank_t levels = 0;
    for (rank_t r = n_ - 1; r > 0; r = parent(r)) ++levels;
    return levels;
  }

 private:
  rank_t n_, fan_;
};

}  // namespace tutti::schedule
