// SPDX-License-Identifier: Apache-2.0
// How to compute a vector whose elements are not there yet.
#pragma once

#include <cstdint>

#include "kernels/elementwise.hpp"
#include "machine/value.hpp"

namespace tutti::vcode {

// Of a distribution or of progressions the elements come from one value for each segment.
enum class source_kind : std::uint8_t { chain, constant, progression, distribution, progressions };

struct fusable {
  source_kind source = source_kind::chain;
  std::uint8_t operands = 0;
  std::uint16_t size = 1;  // instructions in the chain, this one included
  elementwise_kernel kernel = nullptr;
  // Of a chain: vectors of the same length. Of a constant: the element. Of a progression: start and stride. Of a
  // distribution: values and descriptor. Of progressions: starts, the stride of all, descriptor.
  value operand[3];
  fusable* next_free = nullptr;
};

}  // namespace tutti::vcode
