// SPDX-License-Identifier: Apache-2.0
// A description of how to compute a deferred vector.
#pragma once

#include <cstdint>

#include "vcode/kernels/elementwise.hpp"
#include "vcode/machine/value.hpp"

namespace tutti::vcode {

// For distribution and progressions, each segment has its own value.
enum class source_kind : std::uint8_t {
  chain,
  constant,
  progression,
  distribution,
  progressions,
  gather
};

struct fusable {
  source_kind source = source_kind::chain;
  std::uint8_t operands = 0;
  // The number of instructions in the chain, this one included.
  std::uint16_t size = 1;
  elementwise_kernel kernel = nullptr;
  // For a chain: the kernel if the second operand is the same element everywhere, or null.
  elementwise_kernel by_constant = nullptr;
  // For a chain: the instruction, for kernels of two instructions.
  opcode code = opcode::ret;
  kind type = kind::none;
  // For a chain: vectors of the same length. For a constant: the element. For a progression: start
  // and stride. For a distribution: values and descriptor. For progressions: starts, the common
  // stride, descriptor. For a gather: source and index.
  value operand[3];
  fusable* next_free = nullptr;
};

}  // namespace tutti::vcode
