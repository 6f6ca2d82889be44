// SPDX-License-Identifier: Apache-2.0
// Two levels that follow the machine: the ranks that share a cache form a group, and the first rank
// of a group is its leader. Only leaders synchronise across groups, so each group, instead of each
// rank, sends one cache line over the slow link between caches.
#pragma once

#include "tutti/platform/array.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/schedule/arithmetic.hpp"

namespace tutti::schedule {

class hierarchy {
 public:
  // Puts consecutive ranks into groups of `group_size`; the last group may be smaller. Throws
  // std::invalid_argument if `group_size` is 0.
  hierarchy(rank_t participants, rank_t group_size)
      : n_(participants), first_(groups_for(participants, group_size) + 1), group_(participants) {
    for (rank_t g = 0; g < groups(); ++g) first_[g] = g * group_size;
    number_ranks();
  }
  // Puts the first `sizes[0]` ranks into a group, the next `sizes[1]` into another, and so on.
  // Throws std::invalid_argument if a size is 0.
  template <class Sizes>
  explicit hierarchy(const Sizes& sizes) : n_(total(sizes)), first_(sizes.size() + 1), group_(n_) {
    rank_t next = 0;
    for (rank_t g = 0; g < groups(); ++g) {
      require(sizes[g] >= 1, "a group of a hierarchy has at least one rank");
      first_[g] = next;
      next += sizes[g];
    }
    number_ranks();
  }

  rank_t participants() const noexcept { return n_; }
  rank_t groups() const noexcept { return static_cast<rank_t>(first_.size() - 1); }
  rank_t group(rank_t rank) const noexcept { return group_[rank]; }
  rank_t size(rank_t group) const noexcept { return first_[group + 1] - first_[group]; }
  rank_t leader(rank_t group) const noexcept { return first_[group]; }
  bool is_leader(rank_t rank) const noexcept { return leader(group(rank)) == rank; }

 private:
  static rank_t groups_for(rank_t participants, rank_t group_size) {
    require(group_size >= 1, "a group of a hierarchy has at least one rank");
    return ceil_div(participants, group_size);
  }
  template <class Sizes>
  static rank_t total(const Sizes& sizes) noexcept {
    rank_t sum = 0;
    for (const rank_t size : sizes) sum += size;
    return sum;
  }
  void number_ranks() noexcept {
    first_[groups()] = n_;
    for (rank_t g = 0; g < groups(); ++g)
      for (rank_t r = first_[g]; r < first_[g + 1]; ++r) group_[r] = g;
  }

  rank_t n_;
  // The first rank of each group, and n at the end.
  array<rank_t> first_;
  // The group of each rank.
  array<rank_t> group_;
};

}  // namespace tutti::schedule
