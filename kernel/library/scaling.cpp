// SPDX-License-Identifier: Apache-2.0
// The one mathematical function that is no part of the compiler's library of them (libm).
#include <algorithm>
#include <bit>
#include <cstdint>

extern "C" double ldexp(double value, int exponent) noexcept {
  const auto power_of_two = [](int n) {
    constexpr int bias = 1023, fraction_bits = 52;
    return std::bit_cast<double>(static_cast<std::uint64_t>(n + bias) << fraction_bits);
  };
  // A step down keeps the value normal until the last one, so that it is rounded once.
  constexpr int most = 1023, down = 969;
  exponent = std::clamp(exponent, -4000, 4000);
  for (; exponent > most; exponent -= most) value *= power_of_two(most);
  for (; exponent < -down; exponent += down) value *= power_of_two(-down);
  return value * power_of_two(exponent);
}
