// SPDX-License-Identifier: Apache-2.0
// The three loops over patterns that take most of the time, once for each instruction set.
//
// Partial likelihoods are laid out [block][rate][state][lane]. A vector holds the same state of
// neighbouring patterns, so nothing is ever shuffled, and a pattern's arithmetic does not depend on
// the width of vectors. Instruction sets with fused multiply-add agree to the last bit, and so do
// those without.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/phylo/patterns.hpp"

namespace tutti::phylo {

// The first and second derivative by the length of a branch.
using derivatives = std::array<double, 2>;

// Patterns whose largest entry is below this threshold are multiplied by its inverse, and the
// multiplication is counted.
inline constexpr double scale_threshold = 0x1p-256;
inline constexpr double scale_factor = 0x1p+256;

// For every pattern, rate and state: (matrix * states)[state]. For a tip, `tip` is set and the
// states are 0 or 1.
struct factor {
  const double* partials = nullptr;
  const state_set* tip = nullptr;
  // [rate][4][4].
  const double* matrices = nullptr;
  // 0: one matrix for all rates.
  std::size_t matrix_stride = 16;
};

// left * right, entry by entry, of the blocks `first` to `last`-1.
struct product {
  factor left, right;
  // The number of rates of a pattern.
  std::size_t rates = 1;
  // The block's only rate, if patterns have one.
  const std::uint16_t* rate_of_block = nullptr;
  std::size_t first = 0, last = 0;
};

struct scaling {
  // Null for tips.
  const std::uint32_t* left = nullptr;
  const std::uint32_t* right = nullptr;
  std::uint32_t* out = nullptr;
};

struct kernels {
  const char* name;

  // Stores products. With scaling.out they are scaled and counted (partial likelihoods), otherwise
  // they are stored as they are (the table of a branch).
  void (*multiply)(const product& p, const scaling& s, double* out);

  // The sum over rates and states for each pattern: out[block * lanes + lane].
  void (*sum_of_products)(const product& p, double* out);

  // The derivatives of the weighted sum of log f, where f = sum of table[rate][k] *
  // coefficients[rate][k][0], and the derivatives of f have [1] and [2] in place of [0].
  derivatives (*differentiate)(const double* table, const double* coefficients,
                               const double* weights, std::size_t rates,
                               const std::uint16_t* rate_of_block, std::size_t first,
                               std::size_t last);
};

const kernels& portable_kernels();

// All kernels that this processor can run, the best first; `portable` is the last.
const std::vector<kernels>& available_kernels();

// `name` is "best" or the name of one of them, such as avx512, avx2 or portable. Throws
// std::invalid_argument for another name.
const kernels& choose_kernels(std::string_view name);

// Adds the lanes of a vector in an order that is the same for every width.
inline double sum_of_lanes(const double* x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

}  // namespace tutti::phylo
