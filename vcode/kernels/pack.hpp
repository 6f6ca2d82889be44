// SPDX-License-Identifier: Apache-2.0
// PACK on ranges of vectors, for the vector unit of the CPU at hand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::vcode {

// Flags are 0 or 1: how many are 1?
std::size_t count_flags(const std::uint8_t* flags, std::size_t count);

// Writes those of `count` elements whose flags are 1, in order, from `to` on; `room` of them, no less than there are.
// Never writes behind to + room, where another thread's elements may go.
void pack_flagged(std::size_t element_size, const void* from, const std::uint8_t* flags,
                  std::size_t count, void* to, std::size_t room);

}  // namespace tutti::vcode
