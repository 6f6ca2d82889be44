// SPDX-License-Identifier: Apache-2.0
// Gathers, scatters and descriptors on ranges of vectors, compiled for several vector units and
// chosen at run time. Elements are moved one by one, four at a time, because the
// gather instructions of the processors tried were no faster.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::vcode {

// Computes to[k] = from[index[k]] for elements of 1, 4 or 8 bytes. The caller has checked the
// indices.
void gather_elements(std::size_t element_size, const void* from, const std::int32_t* index,
                     void* to, std::size_t count);
// Computes to[index[k]] = from[k], in order. The caller has checked the indices.
void scatter_elements(std::size_t element_size, const void* from, const std::int32_t* index,
                      void* to, std::size_t count);

struct lengths_summary {
  std::int64_t total = 0;
  // Negative if a length is.
  std::int32_t signs = 0;
  std::int32_t longest = 0;
  std::int32_t shortest = 0;
};
lengths_summary summarize_lengths(const std::int32_t* lengths, std::size_t count);
// Writes the sum of the lengths before each, beginning with `first`; returns the sum of all.
std::int32_t write_offsets(const std::int32_t* lengths, std::size_t count, std::int32_t first,
                           std::int32_t* offsets);

}  // namespace tutti::vcode
