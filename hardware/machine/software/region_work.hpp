// SPDX-License-Identifier: Apache-2.0
// The work of the synthetic benchmark of Berger and Stamatakis 2010, section IV, as
// workloads/synthetic has it: each rank multiplies two vectors of its own into a third and sums the
// floors of the products. The cores have no floating point, so the numbers have 16 bits behind the
// point. They and their products are doubles, too, and the harness computes the sum with the
// workload's own function.
#pragma once

#include <cstdint>

namespace tutti::rtl {

inline constexpr std::uint32_t most_region_length = 1024;
inline constexpr std::int32_t one = 1 << 16;

// Element i of the first or the second vector, which all ranks have: between -100 and 100.
constexpr std::int32_t region_number(std::uint32_t which, std::uint32_t i) {
  std::uint32_t x = (2 * i + which + 1) * 2654435761u;
  x = (x ^ x >> 15) * 2246822519u;
  return static_cast<std::int32_t>((x ^ x >> 13) % (200u * one)) - 100 * one;
}

// The vectors lie one behind the other, so that a cache of two ways holds all three.
struct alignas(128) region_vectors {
  std::int32_t numbers[3 * most_region_length];

  void begin(std::uint32_t length) noexcept {
    for (std::uint32_t i = 0; i < length; ++i) {
      numbers[i] = region_number(0, i);
      numbers[length + i] = region_number(1, i);
    }
  }
  std::int32_t multiply_and_sum_floors(std::uint32_t length) noexcept {
    const std::int32_t *const v1 = numbers, *const v2 = numbers + length;
    std::int32_t* const v3 = numbers + 2 * length;
    std::int32_t sum = 0;
    for (std::uint32_t i = 0; i < length; ++i) {
      v3[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(v1[i]) * v2[i] >> 16);
      sum += v3[i] >> 16;
    }
    return sum;
  }
};

}  // namespace tutti::rtl
