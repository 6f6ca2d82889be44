// SPDX-License-Identifier: Apache-2.0
// Patterns: equal columns of an alignment are computed once, in blocks as wide as the widest
// vector.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/tree.hpp"

namespace tutti::phylo {

// The number of patterns in a block. Eight doubles are a cache line and an AVX-512 vector. The
// number is the same for every instruction set, so that layout and order of additions are the same
// too.
inline constexpr std::size_t lanes = 8;

// Lanes without a pattern have gaps and weight 0.
struct pattern_set {
  std::size_t patterns = 0;
  std::size_t blocks = 0;
  // [tip][block * lanes + lane].
  std::vector<std::vector<state_set>> states;
  // [block * lanes + lane]: the number of columns.
  std::vector<double> weights;
  // With rates by site; otherwise empty.
  std::vector<std::uint16_t> rate_of_block;
  // [site]: block * lanes + lane.
  std::vector<std::uint32_t> slot_of_site;
};

// Brings the rows into the order of the tree's tips. `rate_of_site` gives each column a rate
// category (CAT); a block then has patterns of one category. Throws input_error, which names both
// files, if the taxa are not the same.
pattern_set compress(const alignment& a, const tree& t,
                     std::span<const std::uint16_t> rate_of_site = {},
                     std::string_view alignment_file = "alignment",
                     std::string_view tree_file = "tree");

}  // namespace tutti::phylo
