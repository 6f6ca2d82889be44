// SPDX-License-Identifier: Apache-2.0
// Scans and reductions, and the order in which they combine elements.
//
// INT and BOOL may be combined in any order. FLOAT may not: with NaN and zeros of both signs even a
// maximum depends on the order. A FLOAT segment is therefore cut, from its own beginning, into
// blocks of block_elements. The elements of a block go to `lanes` running values in turn, which are
// combined in a tree; the values of the blocks are combined from left to right. Segments shorter
// than `lanes` are combined from left to right. A scan goes from left to right within a block and
// begins each block with the value of the blocks before it. This order depends on the segment
// alone: not on the number of threads, the vector unit, or the segment's position.
// With `strict`, everything is combined from left to right.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vcode/language/instructions.hpp"

namespace tutti::vcode {

inline constexpr std::size_t block_elements = 1024;
inline constexpr std::size_t lanes = 16;

struct fold_kernels {
  // True for FLOAT: the order matters.
  bool ordered = false;
  // The identity; the element type decides which of the three members holds it.
  double identity_real{};
  std::int32_t identity_integer{};
  std::uint8_t identity_boolean{};
  const void* identity(kind type) const;

  // Folds one block or less to one value.
  void (*block)(const void* in, std::size_t count, void* result) = nullptr;
  // Combines *value with a whole segment, in the order stated above.
  void (*reduce)(const void* in, std::size_t count, void* value, bool strict) = nullptr;
  // Computes an exclusive scan that begins with *value and leaves there the value for the next
  // element. `out` may be `in`.
  void (*scan)(const void* in, void* out, std::size_t count, void* value, bool strict) = nullptr;
  // Do the same for consecutive whole segments, each beginning with the identity.
  void (*reduce_segments)(const void* in, const std::int32_t* lengths, std::size_t segments,
                          void* out, bool strict) = nullptr;
  void (*scan_segments)(const void* in, void* out, const std::int32_t* lengths,
                        std::size_t segments, bool strict) = nullptr;
};

// `code` must be a scan or a reduction.
fold_kernels find_fold(opcode code, kind type);

}  // namespace tutti::vcode
