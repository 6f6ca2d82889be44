// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests of sums: values that are hard to sum, and a run on each vector unit
// that this CPU has.
#pragma once

// The targets for which the library is compiled.
#define HWY_WANT_AVX3_DL 1

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace numbers {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
bits_of<T> bits(T value) {
  return std::bit_cast<bits_of<T>>(value);
}

template <class T>
using limits = std::numeric_limits<T>;
inline constexpr double infinity = limits<double>::infinity();
inline constexpr double quiet = limits<double>::quiet_NaN();
inline const double other_nan = std::bit_cast<double>(std::uint64_t{0xfff8000000000123});

enum class kind { even, spread, everything, cancelling, tiny, huge, zeros, special };
inline constexpr kind finite_kinds[] = {kind::even,       kind::spread, kind::everything,
                                        kind::cancelling, kind::tiny,   kind::huge,
                                        kind::zeros};

template <class T>
T any_finite(std::mt19937_64& random) {
  for (;;) {
    const T value = std::bit_cast<T>(static_cast<bits_of<T>>(random()));
    if (std::isfinite(value)) return value;
  }
}

template <class T>
T one_value(kind which, std::mt19937_64& random) {
  const T part = std::uniform_real_distribution<T>(-1, 1)(random);
  switch (which) {
    case kind::even: return part;
    case kind::spread: return std::ldexp(part, static_cast<int>(random() % 120) - 60);
    case kind::tiny: return part * limits<T>::min() * 4;
    case kind::huge: return part * limits<T>::max();
    case kind::zeros: return random() % 3 == 0 ? T{0} : random() % 2 == 0 ? -T{0} : part;
    case kind::special:
      switch (random() % 40) {
        case 0: return limits<T>::infinity();
        case 1: return -limits<T>::infinity();
        case 2: return limits<T>::quiet_NaN();
        case 3: return -T{0};
        default: return part;
      }
    default: return any_finite<T>(random);
  }
}

template <class T>
std::vector<T> values_of(kind which, std::size_t count, std::mt19937_64& random) {
  std::vector<T> values(count);
  for (T& value : values) value = one_value<T>(which, random);
  if (which == kind::cancelling)
    for (std::size_t i = 0; i + 1 < count; i += 2) values[i + 1] = -values[i];
  std::shuffle(values.begin(), values.end(), random);
  if (which == kind::cancelling && count > 2) values[count / 2] = limits<T>::denorm_min();
  return values;
}

// The compiled library and this program share Highway's choice of a target.
class on_target : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().DeInit();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

inline std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> all;
  std::int64_t left = HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET);
  for (; left != 0; left &= left - 1) all.push_back(left & -left);
  return all;
}
inline std::string name_of(const testing::TestParamInfo<std::int64_t>& target) {
  return hwy::TargetName(target.param);
}

}  // namespace numbers
