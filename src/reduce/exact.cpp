// SPDX-License-Identifier: Apache-2.0
// Adds many values to an exact_sum at once, by the vector unit.
//
// It chooses a constant sigma for a block of values and splits each value x into a multiple of
// sigma's last place, which is (sigma + x) - sigma, and a rest. Multiples of one unit add up
// without rounding, in any order and with any vector width, as long as their sum stays within 2^53
// units. After two splits the two sums of the block are added to the long accumulator. The rests
// are mostly zero; if not, they are split again or added one by one.
// Source: Rump, Ogita and Oishi 2008, "Accurate floating-point summation part I" (ExtractVector).
//
// Unlike the accumulator this code computes in floating point, so it first checks that additions
// round to nearest and keep sub-normals.

#include "tutti/reduce/exact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>

#if TUTTI_HAVE_HIGHWAY
// Without this macro Highway rejects -march=native on CPUs that have these instructions.
#ifndef HWY_WANT_AVX3_DL
#define HWY_WANT_AVX3_DL 1
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/reduce/exact.cpp"
#include <hwy/foreach_target.h>
// It must follow foreach_target.h.
#include <hwy/highway.h>
#else
#include "src/reduce/vector_unit.hpp"
#endif

#ifndef TUTTI_REDUCE_EXACT_ONCE
#define TUTTI_REDUCE_EXACT_ONCE
namespace tutti::detail {
namespace {

constexpr unsigned block_bits = 10;
constexpr std::size_t block_size = std::size_t{1} << block_bits;
// A multiple of every vector's length, so that no kernel has a tail. Blocks are filled up with -0,
// which changes no sum.
constexpr std::size_t granule = 64;
// The number of bits by which a rest is smaller than the value that was split: 53 bits, less the 10
// that 2^10 summands need, plus 1 because a rest is at most half a unit.
constexpr int split_bits = 53 - int{block_bits} + 1;

using block = std::array<double, block_size>;

struct split_sums {
  double high, low;
  // Whether a rest is not zero.
  bool rest;
};

}  // namespace
}  // namespace tutti::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace tutti::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Returns the largest absolute value, or any value if there is a NaN.
double largest(const double* values, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += 2 * lanes) {
    even = hn::Max(even, hn::Abs(hn::LoadU(d, values + i)));
    odd = hn::Max(odd, hn::Abs(hn::LoadU(d, values + i + lanes)));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(even, odd)));
}

// Splits the values twice, at sigma and split_bits below it. Writes the rests to `rest`, which may
// be `values`.
split_sums split(const double* values, std::size_t count, double sigma, double* rest) {
  const hn::ScalableTag<double> d;
  const auto first = hn::Set(d, sigma);
  const auto second = hn::Set(d, sigma * 0x1p-44);
  static_assert(split_bits == 44);
  auto high_sum = hn::Zero(d);
  auto low_sum = hn::Zero(d);
  auto left = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto value = hn::LoadU(d, values + i);
    const auto high = hn::Sub(hn::Add(first, value), first);
    const auto below = hn::Sub(value, high);
    const auto low = hn::Sub(hn::Add(second, below), second);
    const auto remains = hn::Sub(below, low);
    high_sum = hn::Add(high_sum, high);
    low_sum = hn::Add(low_sum, low);
    left = hn::Or(left, remains);
    hn::StoreU(remains, d, rest + i);
  }
  const bool any = !hn::AllTrue(d, hn::Eq(left, hn::Zero(d)));
  return {hn::GetLane(hn::SumOfLanes(d, high_sum)), hn::GetLane(hn::SumOfLanes(d, low_sum)), any};
}

}  // namespace
}  // namespace tutti::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti {
namespace detail {
namespace {

HWY_EXPORT(largest);
HWY_EXPORT(split);

// Tells whether additions round to nearest and keep sub-normal operands and results.
bool additions_are_standard() noexcept {
  if (FLT_EVAL_METHOD != 0) return false;
  const volatile double one = 1, little = 0x1p-60, more = 0x1.8p-53;
  const volatile double normal = 0x1.8p-1022, smallest = -0x1p-1022, subnormal = 0x1p-1074;
  const volatile double half = normal + smallest;
  return one + little == one && one + more != one && half != 0 && subnormal + subnormal != 0;
}

bool is_finite(double value) noexcept {
  constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 53;
  return std::bit_cast<std::uint64_t>(value) << 1 < infinity;
}

// Adds a block that contains only zeros, as one zero with the sign of their sum. Returns false,
// with nothing added, if the block contains another value.
template <class Add>
bool add_zeros(const double* values, std::size_t count, Add add) noexcept {
  bool other = false, positive = false;
  for (std::size_t i = 0; i < count; ++i) {
    other |= !(values[i] == 0);
    positive |= std::bit_cast<std::uint64_t>(values[i]) == 0;
  }
  if (!other) add(positive ? 0.0 : -0.0);
  return !other;
}

// Adds a block by calls of `add`. Returns false, with nothing added, if its values can only be
// added one by one.
template <class Add>
bool add_block(const double* values, std::size_t count, Add add) noexcept {
  const double top = HWY_DYNAMIC_DISPATCH(largest)(values, count);
  if (top == 0) return add_zeros(values, count, add);
  // The values must be far from both ends of the range, so that neither sigma nor the lowest unit
  // leaves it.
  if (!(top >= 0x1p-600 && top <= 0x1p+1000)) return false;
  const auto exponent = std::bit_cast<std::uint64_t>(top) >> 52;
  double sigma = std::bit_cast<double>((exponent + block_bits) << 52 | std::uint64_t{1} << 51);
  alignas(64) block rest;
  // Each round costs a fraction of adding one by one. After three rounds the values have such
  // different magnitudes that further rounds would cost more than they save.
  for (int round = 0; round < 3; ++round) {
    const double* from = round == 0 ? values : rest.data();
    const split_sums sums = HWY_DYNAMIC_DISPATCH(split)(from, count, sigma, rest.data());
    if (!is_finite(sums.high)) return false;
    add(sums.high);
    add(sums.low);
    if (!sums.rest) return true;
    sigma *= 0x1p-88;
  }
  for (std::size_t i = 0; i < count; ++i) add(rest[i]);
  return true;
}

}  // namespace
}  // namespace detail

template <class T>
void exact_sum<T>::add(std::span<const T> values) noexcept {
  using namespace detail;
  const bool vectors = values.size() >= granule && additions_are_standard();
  const auto add_double = [this](double value) { add_any(value); };
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), block_size);
    const std::span<const T> now = values.first(count);
    values = values.subspan(count);
    alignas(64) block copy;
    const double* from = nullptr;
    std::size_t padded = count;
    if constexpr (std::same_as<T, double>)
      if (count % granule == 0) from = now.data();
    if (vectors && from == nullptr) {
      padded = (count + granule - 1) / granule * granule;
      std::fill(std::copy(now.begin(), now.end(), copy.begin()), copy.begin() + padded, -0.0);
      from = copy.data();
    }
    if (!vectors || !add_block(from, padded, add_double))
      for (const T value : now) add(value);
  }
}

template void exact_sum<double>::add(std::span<const double>) noexcept;
template void exact_sum<float>::add(std::span<const float>) noexcept;

}  // namespace tutti
#endif
