// SPDX-License-Identifier: Apache-2.0
// The smaller and the larger of two values. The standard library has them in <algorithm>, which
// adds 9,000 lines to every header that includes it.
#pragma once

namespace tutti {

template <class T>
constexpr T smaller(T a, T b) noexcept {
  return b < a ? b : a;
}

template <class T>
constexpr T larger(T a, T b) noexcept {
  return a < b ? b : a;
}

// Returns `value`, or the bound that it exceeds.
template <class T>
constexpr T within(T value, T low, T high) noexcept {
  return larger(low, smaller(value, high));
}

}  // namespace tutti
