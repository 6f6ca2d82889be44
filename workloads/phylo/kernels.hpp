// SPDX-License-Identifier: Apache-2.0
// The three loops over patterns where the time goes, once for each instruction set.
//
// Partial likelihoods are laid out [block][rate][state][lane]: a vector holds the same state of neighbouring patterns, so
// that nothing is ever shuffled and a pattern's arithmetic does not depend on the width of vectors. Instruction sets with
// fused multiply-add agree to the last bit, and so do those without.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "phylo/patterns.hpp"

namespace tutti::phylo {

using derivatives = std::array<double, 2>;  // first and second, by the length of a branch

// Patterns whose largest entry is below this are multiplied by its inverse, which is counted.
inline constexpr double scale_threshold = 0x1p-256;
inline constexpr double scale_factor = 0x1p+256;

// For every pattern, rate and state: (matrix * states)[state]. Of a tip, `tip` is set and the states are 0 or 1.
struct factor {
  const double* partials = nullptr;
  const state_set* tip = nullptr;
  const double* matrices = nullptr;  // [rate][4][4]
  std::size_t matrix_stride = 16;    // 0: one matrix for all rates
};

// left * right, entry by entry, of the blocks `first` to `last`-1.
struct product {
  factor left, right;
  std::size_t rates = 1;                         // of a pattern
  const std::uint16_t* rate_of_block = nullptr;  // its only rate, where patterns have one
  std::size_t first = 0, last = 0;
};

struct scaling {
  const std::uint32_t* left = nullptr;  // null for tips
  const std::uint32_t* right = nullptr;
  std::uint32_t* out = nullptr;
};

struct kernels {
  const char* name;

  // Stores products; with scaling.out, scaled and counted (partial likelihoods), else as they are (a branch's table).
  void (*multiply)(const product& p, const scaling& s, double* out);

  // Sum over rates and states, for each pattern: out[block * lanes + lane].
  void (*sum_of_products)(const product& p, double* out);

  // Derivatives of the weighted sum of log f, where f = sum of table[rate][k] * coefficients[rate][k][0], and its
  // derivatives are those with [1] and [2].
  derivatives (*differentiate)(const double* table, const double* coefficients,
                               const double* weights, std::size_t rates,
                               const std::uint16_t* rate_of_block, std::size_t first,
                               std::size_t last);
};

const kernels& portable_kernels();

// All that this processor can run, the best first; `portable` is the last.
const std::vector<kernels>& available_kernels();

// "best" or a name of one of them, as avx512, avx2, portable. Throws std::invalid_argument.
const kernels& choose_kernels(std::string_view name);

// The order in which the lanes of a vector are added, for every width.
inline double sum_of_lanes(const double* x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

}  // namespace tutti::phylo
