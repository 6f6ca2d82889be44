// SPDX-License-Identifier: Apache-2.0
// Sums that do not depend on the order in which messages arrive: they add integer multiples of a
// small unit.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tutti::graph_apps {

// Numbers from 0 to 1 as multiples of 2^-62. A sum of numbers that add up to 1 fits, and so does a
// product.
using share_t = std::uint64_t;
inline constexpr share_t whole_share = share_t{1} << 62;

// The product of two shares, rounded down, from four products of halves: for processors whose
// compiler has no type of 128 bits.
constexpr share_t product_of_halves(share_t a, share_t b) noexcept {
  constexpr share_t half = 0xffff'ffff;
  const share_t low = (a & half) * (b & half);
  const share_t left = (a >> 32) * (b & half) + (low >> 32);
  const share_t right = (a & half) * (b >> 32) + (left & half);
  const share_t high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
  return high << 2 | (right & half) >> 30;
}
#ifdef __SIZEOF_INT128__
__extension__ using uint128 = unsigned __int128;

constexpr share_t product(share_t a, share_t b) noexcept {
  return static_cast<share_t>(uint128{a} * b >> 62);
}
#else
constexpr share_t product(share_t a, share_t b) noexcept { return product_of_halves(a, b); }
#endif
inline share_t share_of(double x) noexcept { return static_cast<share_t>(std::ldexp(x, 62)); }
inline double number_of(share_t s) noexcept { return std::ldexp(static_cast<double>(s), -62); }

// A share as a message carries it: all 64 bits, or rounded to the 24 bits of a float, for messages
// of half the size. Both are whole numbers of units, so sums stay exact.
// A conversion from or to a signed number is one instruction.
template <class Content>
constexpr Content content_of(share_t s) noexcept {
  return static_cast<Content>(static_cast<std::int64_t>(s));
}
constexpr share_t share_in(share_t content) noexcept { return content; }
constexpr share_t share_in(float content) noexcept {
  return static_cast<share_t>(static_cast<std::int64_t>(content));
}
constexpr share_t rounded(share_t s, bool single) noexcept {
  return single ? share_in(content_of<float>(s)) : s;
}

// What a vertex with this share sends along each of its edges, of which there is at least one. A
// division of floats takes half as long as one of whole numbers.
template <class Content>
constexpr Content part_of(share_t s, std::uint32_t degree) noexcept {
  if constexpr (std::is_same_v<Content, float>)
    return content_of<float>(s) / static_cast<float>(degree);
  else
    return s / degree;
}
constexpr share_t part_of(share_t s, std::uint32_t degree, bool single) noexcept {
  return single ? share_in(part_of<float>(s, degree)) : part_of<share_t>(s, degree);
}

// Numbers of either sign as multiples of a unit, which is a power of two.
class fixed_scale {
 public:
  // Makes a scale for sums of absolute values up to `largest`.
  explicit fixed_scale(double largest = 1.0) {
    const int exponent = largest > 0 ? std::ilogb(largest) + 1 : 0;
    up_ = std::ldexp(1.0, 61 - exponent);
    down_ = std::ldexp(1.0, exponent - 61);
  }
  std::int64_t units(double x) const noexcept { return std::llrint(x * up_); }
  double number(std::int64_t units) const noexcept { return static_cast<double>(units) * down_; }

 private:
  double up_, down_;
};

}  // namespace tutti::graph_apps
