// SPDX-License-Identifier: Apache-2.0
// Random numbers as functions of their purpose: the same numbers for any caller, in any order.
#pragma once

#include <cstdint>

namespace tutti::graph_apps {

// SplitMix64's finalizer (Steele, Lea and Flood 2014): every bit of the argument changes about half
// of the result's bits.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
constexpr std::uint64_t mixed(std::uint64_t seed, std::uint64_t a, std::uint64_t b) noexcept {
  return mixed(mixed(mixed(seed) ^ a) ^ b);
}

// A number in [0, 1), a multiple of 2^-53.
constexpr double uniform(std::uint64_t seed, std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<double>(mixed(seed, a, b) >> 11) * 0x1p-53;
}

// A number of mean 0 and standard deviation 1: the sum of twelve uniform numbers of 16 bits, less
// 6. It is exact and therefore the same on every machine, unlike a logarithm. It is limited to +-6.
constexpr double normal(std::uint64_t seed, std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t bits = mixed(seed, a, b);
  std::uint32_t sum = 0;
  for (int word = 0; word < 3; ++word) {
    for (int part = 0; part < 4; ++part)
      sum += static_cast<std::uint32_t>(bits >> (16 * part)) & 0xffff;
    bits = mixed(bits);
  }
  return (static_cast<double>(sum) + 6) * 0x1p-16 - 6;
}

}  // namespace tutti::graph_apps
