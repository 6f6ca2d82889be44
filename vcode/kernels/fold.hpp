// SPDX-License-Identifier: Apache-2.0
// Scans and reductions, and the order in which they combine.
//
// INT and BOOL may be combined in any order. FLOAT may not (with NaN and zeros of both signs a maximum too depends on
// the order): a segment is cut, from its own beginning, in blocks of block_elements. Elements of a block go to `lanes`
// running values in turn, which are combined in a tree; the values of blocks are combined from left to right.
// That order depends on the segment alone: not on the number of threads, nor on the vector unit, nor on where
// the segment lies. Segments shorter than `lanes` are combined from left to right. A scan goes from left to
// right within a block and begins each block with the value of those before.
// With `strict`, everything goes from left to right.
#pragma once

#include <cstddef>
#include <cstdint>

#include "language/instructions.hpp"

namespace tutti::vcode {

inline constexpr std::size_t block_elements = 1024;
inline constexpr std::size_t lanes = 16;

struct fold_kernels {
  bool ordered = false;    // FLOAT
  double identity_real{};  // or the one of the other two, by type
  std::int32_t identity_integer{};
  std::uint8_t identity_boolean{};
  const void* identity(kind type) const;

  // One block, or less, to one value.
  void (*block)(const void* in, std::size_t count, void* result) = nullptr;
  // *value = *value combined with all of `in`, block by block.
  void (*reduce)(const void* in, std::size_t count, void* value, bool strict) = nullptr;
  // Exclusive, beginning with *value, which becomes what comes next. `out` may be `in`.
  void (*scan)(const void* in, void* out, std::size_t count, void* value, bool strict) = nullptr;
  // The same for consecutive whole segments, each beginning with the identity.
  void (*reduce_segments)(const void* in, const std::int32_t* lengths, std::size_t segments,
                          void* out, bool strict) = nullptr;
  void (*scan_segments)(const void* in, void* out, const std::int32_t* lengths,
                        std::size_t segments, bool strict) = nullptr;
};

// `code` is a scan or a reduction.
fold_kernels find_fold(opcode code, kind type);

}  // namespace tutti::vcode
