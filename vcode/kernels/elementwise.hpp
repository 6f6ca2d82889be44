// SPDX-License-Identifier: Apache-2.0
// Elementwise instructions on ranges of vectors, for the vector unit of the CPU at hand.
#pragma once

#include <cstddef>

#include "language/instructions.hpp"

namespace tutti::vcode {

// Operands that the instruction lacks are ignored. `out` may be one of the operands.
using elementwise_kernel = void (*)(const void* a, const void* b, const void* c, void* out,
                                    std::size_t count);

struct elementwise {
  elementwise_kernel vector = nullptr;
  elementwise_kernel scalar = nullptr;  // of one element; `count` is ignored
};

// Null for instructions that are not elementwise, and for RAND.
elementwise find_elementwise(opcode code, kind type);

// Any element 0? Any index outside of 0 .. limit-1?
bool has_zero(const std::int32_t* data, std::size_t count);
bool all_below(const std::int32_t* data, std::size_t count, std::uint32_t limit);

// out[i] = start + stride * i, wrapping; fewer than 2^32 of them.
void fill_progression(std::int32_t start, std::int32_t stride, std::int32_t* out,
                      std::size_t count);

// The vector unit that was chosen: "AVX3", "NEON", ...
const char* vector_unit();

}  // namespace tutti::vcode
