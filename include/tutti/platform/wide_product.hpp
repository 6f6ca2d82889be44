// SPDX-License-Identifier: Apache-2.0
// Products and quotients of 128 bits, on processors whose compiler has no integer type for them
// too.
#pragma once

#include <cstdint>

namespace tutti::platform {

namespace by_halves {

// Returns bits `shift` .. shift+63 of the product, for a shift of 63 to 127.
constexpr std::uint64_t shifted_product(std::uint64_t a, std::uint64_t b,
                                        std::uint32_t shift) noexcept {
  const std::uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
  const std::uint64_t low = a0 * b0;
  // No sum overflows: (2^32-1)^2 + 2 (2^32-1) = 2^64 - 1.
  const std::uint64_t middle = a1 * b0 + (low >> 32);
  const std::uint64_t other = a0 * b1 + (middle & UINT32_MAX);
  const std::uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);
  return shift == 63 ? high << 1 | (other >> 31 & 1) : high >> (shift - 64);
}

// Returns 2^power / divisor, rounded up, if that is less than 2^64.
constexpr std::uint64_t power_over(std::uint32_t power, std::uint32_t divisor) noexcept {
  std::uint64_t quotient = 0, remainder = 1;
  for (std::uint32_t bit = 0; bit < power; ++bit) {
    const bool fits = remainder >= divisor;
    quotient = (quotient | (fits ? 1 : 0)) << 1;
    remainder = (remainder - (fits ? divisor : 0)) << 1;
  }
  quotient |= remainder >= divisor ? 1 : 0;
  remainder -= remainder >= divisor ? divisor : 0;
  return quotient + (remainder != 0 ? 1 : 0);
}

}  // namespace by_halves

#if defined(__SIZEOF_INT128__)
__extension__ using unsigned_128 = unsigned __int128;

constexpr std::uint64_t shifted_product(std::uint64_t a, std::uint64_t b,
                                        std::uint32_t shift) noexcept {
  return static_cast<std::uint64_t>((static_cast<unsigned_128>(a) * b) >> shift);
}
constexpr std::uint64_t power_over(std::uint32_t power, std::uint32_t divisor) noexcept {
  const auto numerator = static_cast<unsigned_128>(1) << power;
  return static_cast<std::uint64_t>((numerator + divisor - 1) / divisor);
}
#else
using by_halves::power_over;
using by_halves::shifted_product;
#endif

}  // namespace tutti::platform
