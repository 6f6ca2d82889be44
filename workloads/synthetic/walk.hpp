// SPDX-License-Identifier: Apache-2.0
// Another work of the synthetic benchmark: in each region every rank reads and writes some cache
// lines of a set of its own, one after another or at random places. The set is as large as a level
// of the machine's caches, so what a barrier finds in the caches after the work depends on it.
// Berger and Stamatakis 2010 leave the influence of an application's cache use and access pattern
// on the best barrier to future work; `tutti-synthetic --set l1,l2,l3,memory` measures it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tutti/platform/array.hpp"
#include "tutti/team/per_rank.hpp"

namespace tutti::synthetic {

struct walk_shape {
  // The bytes of each rank's set; 0: no walk.
  std::size_t bytes = 0;
  // The cache lines that a rank reads and writes in a region.
  std::uint64_t lines = 0;
  // Whether they are at random places of the set, or one behind another.
  bool at_random = false;
  friend bool operator==(const walk_shape&, const walk_shape&) = default;
  friend auto operator<=>(const walk_shape&, const walk_shape&) = default;
};

class walk {
 public:
  // Makes the sets, each on pages that its rank touched first.
  walk(team& owners, const walk_shape& shape);

  // Does a rank's part of a region, and keeps how long it took by the rank's own clock.
  void enter(rank_t rank);

  // The ticks of the longest part of the last region. The master calls this after a region.
  std::uint64_t longest() const;

  // What a rank's reads add up to: every rank makes the same walk, so all have the same sum.
  std::uint64_t sum(rank_t rank) const { return marches_[rank].value.sum; }

 private:
  struct march {
    std::uint64_t place = 0, sum = 0, ticks = 0;
  };
  const walk_shape shape_;
  // The number of lines in a set is a power of two.
  const unsigned line_bits_;
  per_rank<std::uint64_t> sets_;
  array<padded<march>> marches_;
};

// The bytes of a set by its name: none, l1, l2, l3, memory, or a number with K, M or G. A set l1,
// l2 or l3 is half of that cache, and the ranks share a cache of level 3. A set memory is a rank's
// part of four times the largest cache, but at least 64 MiB. Throws std::invalid_argument for other
// names, and for a cache that the system does not tell.
std::size_t set_bytes(const std::string& name, std::uint32_t ranks);

}  // namespace tutti::synthetic
