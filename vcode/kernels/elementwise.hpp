// SPDX-License-Identifier: Apache-2.0
// Elementwise instructions on ranges of vectors, compiled for several vector units and chosen at
// run time.
#pragma once

#include <cstddef>

#include "vcode/language/instructions.hpp"

namespace tutti::vcode {

// Ignores operands that the instruction does not have. `out` may be one of the operands.
using elementwise_kernel = void (*)(const void* a, const void* b, const void* c, void* out,
                                    std::size_t count);

struct elementwise {
  elementwise_kernel vector = nullptr;
  // For one element; ignores `count`.
  elementwise_kernel scalar = nullptr;
  // For a second operand that is the same element everywhere; null if that is no faster.
  elementwise_kernel by_constant = nullptr;
};

// Returns null kernels for RAND and for instructions that are not elementwise.
elementwise find_elementwise(opcode code, kind type);

// Returns true if an element is 0.
bool has_zero(const std::int32_t* data, std::size_t count);
// Returns true if all elements are in 0 .. limit-1.
bool all_below(const std::int32_t* data, std::size_t count, std::uint32_t limit);

// Computes out[i] = start + stride * i, wrapping, for fewer than 2^32 elements.
void fill_progression(std::int32_t start, std::int32_t stride, std::int32_t* out,
                      std::size_t count);

}  // namespace tutti::vcode
