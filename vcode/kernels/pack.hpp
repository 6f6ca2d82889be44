// SPDX-License-Identifier: Apache-2.0
// PACK on ranges of vectors, compiled for several vector units and chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::vcode {

// Counts the flags that are 1. All flags must be 0 or 1.
std::size_t count_flags(const std::uint8_t* flags, std::size_t count);

// Writes, in order, those of `count` elements whose flags are 1 to `to` and the places behind it.
// `room` is at least their number. Never writes behind to + room, where another thread's elements
// may lie.
void pack_flagged(std::size_t element_size, const void* from, const std::uint8_t* flags,
                  std::size_t count, void* to, std::size_t room);

}  // namespace tutti::vcode
