// SPDX-License-Identifier: Apache-2.0
// Random trees, and alignments that evolved along them. The same seed gives the same files on every
// machine.
#pragma once

#include <cstdint>

#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/model.hpp"
#include "workloads/phylo/tree.hpp"

namespace tutti::phylo {

// Each taxon (t1, t2, ...) joins the tree at a random branch; lengths are exponentially
// distributed.
tree random_tree(std::size_t taxa, double mean_length, std::uint64_t seed);

// Columns evolve one by one until there are `sites` of them or, if `patterns` is not 0, that many
// different ones.
struct simulate_options {
  std::size_t sites = 1000;
  std::size_t patterns = 0;
  // The share of characters that are lost.
  double gaps = 0;
  std::uint64_t seed = 1;
};
// Throws std::runtime_error if the tree does not yield that many patterns.
alignment simulate(const tree& t, const model& m, const simulate_options& options);

}  // namespace tutti::phylo
