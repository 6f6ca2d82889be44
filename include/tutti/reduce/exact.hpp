// SPDX-License-Identifier: Apache-2.0
// exact_sum: the sum of any number of doubles or floats, without any rounding until value(). So it
// depends neither on the order of the values, nor on which rank adds which value, nor on the number
// of ranks.
//
//   tutti::exact_sum<double> mine;
//   mine.add(values);                                     // a span; mine.add(x) adds one value
//   double sum = me.reduce(tutti::plus{}, mine).value();  // the same bits for any number of ranks
//
// Idea       one fixed-point number as wide as the format's whole range, in 64-bit chunks that are
//            52 bits apart. The 12 bits by which chunks overlap hold the carries of 2046 additions;
//            after that many additions the carries are propagated.
// Size       344 bytes for double (3 lines of 128 bytes), 64 for float.
// Cost       add(x): two integer additions, about 2 to 4 ns. add(span): about as much as a plain
//            loop (docs/reproducible-sums.md). merge: one addition per chunk. value: called once,
//            at the end.
// When       the result must not change with the number of ranks, or cancellation would destroy a
//            plain sum.
// When not   the size matters more: a plain reduction needs 8 bytes per rank, and its result
//            already is the same for the same number of ranks.
//
// value() is the exact sum, rounded once to the nearest number (ties to even), whatever the
// rounding mode. That includes sub-normal results and sums that leave the range and come back
// (1e308 + 1e308 - 1e308). The result is
//   infinite           if the exact sum rounds to more than the largest finite number, or if
//                      infinities of one sign were added;
//   the quiet NaN      if a NaN or infinities of both signs were added;
//   +0                 if nothing was added or the terms cancel;
//   -0                 if only -0 was added.
// At least 2^60 values of any size can be added.
//
// Two sums of the same values are equal (==), and after normalize() their bytes are equal too. The
// class uses only integer arithmetic, so -ffast-math, the rounding mode and the flushing of
// sub-normals do not change the result.
//
// Thread-safety: that of a plain value. Each thread adds to a sum of its own.
// Source: Kulisch, "Computer Arithmetic and Validity", for the long accumulator; Neal 2015, "Fast
// exact summation using small and large superaccumulators", arXiv:1505.05571, for chunks that
// overlap and carries that are rarely propagated.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "tutti/export.h"

namespace tutti {

template <class T>
class exact_sum {
  static_assert(std::same_as<T, double> || std::same_as<T, float>, "exact_sum: double or float");

 public:
  using value_type = T;
  // Equal sums may have different bytes until normalize() (canonical, operations.hpp).
  using has_many_forms = void;

  constexpr exact_sum() noexcept = default;
  explicit constexpr exact_sum(T value) noexcept { add(value); }

  constexpr void add(T value) noexcept { add_any(value); }

  // Does the same as adding the values one by one, but faster. Needs the compiled library.
  TUTTI_API void add(std::span<const T> values) noexcept;

  // Adds all values that `other` has added.
  constexpr void merge(const exact_sum& other) noexcept {
    if (pending_ + other.pending_ + 1 >= most_pending) {
      exact_sum normal = other;
      normal.normalize();
      normalize();
      return merge(normal);
    }
    for (std::size_t i = 0; i < chunks; ++i) chunk_[i] += other.chunk_[i];
    seen_ |= other.seen_;
    pending_ += other.pending_ + 1;
  }

  // Gives equal sums equal bytes: every chunk but the highest comes into 0 .. 2^52 - 1.
  constexpr void normalize() noexcept {
    std::int64_t carry = 0;
    for (std::size_t i = 0; i + 1 < chunks; ++i) {
      const std::int64_t sum = chunk_[i] + carry;
      chunk_[i] = sum & chunk_mask;
      carry = sum >> chunk_bits;
    }
    chunk_[chunks - 1] += carry;
    pending_ = 0;
    // The flag matters only if nothing but -0 was added, and add(span) does not search for -0 among
    // other values.
    if ((seen_ & ~negative_zero) != 0) seen_ &= ~negative_zero;
  }

  // Returns the rounded sum.
  constexpr T value() const noexcept {
    using limits = std::numeric_limits<T>;
    if ((seen_ & nan) != 0 || (seen_ & infinities) == infinities) return limits::quiet_NaN();
    if ((seen_ & infinities) != 0)
      return (seen_ & plus_infinity) != 0 ? limits::infinity() : -limits::infinity();
    exact_sum size = *this;
    size.normalize();
    const bool negative = size.chunk_[chunks - 1] < 0;
    if (negative) size.negate();
    const bool minus_zero = seen_ == negative_zero;
    return std::bit_cast<T>(size.rounded() | (negative || minus_zero ? sign_bit : 0));
  }

  friend constexpr bool operator==(exact_sum a, exact_sum b) noexcept {
    a.normalize();
    b.normalize();
    return a.chunk_ == b.chunk_ && a.seen_ == b.seen_;
  }

 private:
  template <class V>
  struct format {
    using bits = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
    static constexpr unsigned fraction_bits = std::numeric_limits<V>::digits - 1;
    static constexpr bits fraction_mask = (bits{1} << fraction_bits) - 1;
    static constexpr bits exponents = (bits{1} << (8 * sizeof(V) - 1 - fraction_bits)) - 1;
    // 2^lowest is the smallest number above zero.
    static constexpr int lowest = std::numeric_limits<V>::min_exponent - 1 - int{fraction_bits};
  };
  using bits = typename format<T>::bits;

  static constexpr unsigned chunk_bits = 52;
  static constexpr std::int64_t chunk_mask = (std::int64_t{1} << chunk_bits) - 1;
  // The bits from the smallest number to above the largest. The chunks have room for at least 63
  // bits more, for the number of additions; the highest chunk uses all of its 64 bits.
  static constexpr unsigned value_bits =
      static_cast<unsigned>(std::numeric_limits<T>::max_exponent - format<T>::lowest);
  static constexpr std::size_t chunks = (value_bits + chunk_bits - 1) / chunk_bits + 1;
  // An addition and a merge of normalised sums both change a chunk by less than 2^52, and a
  // normalised chunk is less than 2^52 too: 2047 of them and a carry stay below 2^63.
  static constexpr std::uint32_t most_pending = 2046;

  static constexpr bits sign_bit = bits{1} << (8 * sizeof(T) - 1);
  static constexpr bits infinity_bits = format<T>::exponents << format<T>::fraction_bits;

  // Flags for the kinds of values that were added.
  static constexpr std::uint32_t nan = 1, plus_infinity = 2, minus_infinity = 4, negative_zero = 8,
                                 finite = 16, infinities = plus_infinity | minus_infinity;

  // V is T, or double if T is float: exact_sum<float>::add(span) adds partial sums that are
  // multiples of 2^lowest.
  template <class V>
  constexpr void add_any(V value) noexcept {
    using from = format<V>;
    const auto word = std::bit_cast<typename from::bits>(value);
    const bool negative = word >> (8 * sizeof(V) - 1) != 0;
    const auto exponent = static_cast<unsigned>(word >> from::fraction_bits & from::exponents);
    std::uint64_t mantissa = word & from::fraction_mask;
    if (exponent == from::exponents) [[unlikely]] {
      seen_ |= mantissa != 0 ? nan : negative ? minus_infinity : plus_infinity;
      return;
    }
    seen_ |= word << 1 == 0 && negative ? negative_zero : finite;
    const bool normal = exponent != 0;
    mantissa |= std::uint64_t{normal} << from::fraction_bits;
    unsigned position = exponent - unsigned{normal};
    if constexpr (!std::same_as<V, T>) {
      constexpr unsigned below = format<T>::lowest - from::lowest;
      if (position < below) {
        mantissa = below - position < 64 ? mantissa >> (below - position) : 0;
        position = below;
      }
      position -= below;
    }
    add_at(position, mantissa, negative);
  }

  // Adds +-mantissa x 2^(lowest + position). The mantissa must be less than 2^53.
  constexpr void add_at(unsigned position, std::uint64_t mantissa, bool negative) noexcept {
    const unsigned index = position / chunk_bits;
    const unsigned shift = position % chunk_bits;
    const auto low = static_cast<std::int64_t>(mantissa << shift) & chunk_mask;
    const auto high = static_cast<std::int64_t>(mantissa >> (chunk_bits - shift));
    const std::int64_t flip = -std::int64_t{negative};
    chunk_[index] += (low ^ flip) - flip;
    chunk_[index + 1] += (high ^ flip) - flip;
    if (++pending_ == most_pending) normalize();
  }

  constexpr void negate() noexcept {
    for (std::int64_t& chunk : chunk_) chunk = -chunk;
    normalize();
  }

  // Returns the bits of a normalised sum >= 0, rounded to a T.
  constexpr bits rounded() const noexcept {
    std::size_t top = chunks - 1;
    while (top > 0 && chunk_[top] == 0) --top;
    const auto width =
        static_cast<unsigned>(chunk_bits * top) +
        static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(chunk_[top])));
    if (width > value_bits) return infinity_bits;
    constexpr unsigned digits = format<T>::fraction_bits + 1;
    if (width <= digits) return static_cast<bits>(chunk_[0] | chunk_[1] << chunk_bits);

    // The highest `digits` bits begin at bit `last`. They are added below the exponent field, so
    // their leading one increments the exponent, and a carry of the rounding increments it again,
    // up to infinity if necessary.
    const unsigned last = width - digits;
    const std::size_t index = last / chunk_bits;
    const unsigned shift = last % chunk_bits;
    const auto low = static_cast<std::uint64_t>(chunk_[index]);
    const auto high = static_cast<std::uint64_t>(chunk_[index + 1]);
    const std::uint64_t kept =
        (low >> shift | high << (chunk_bits - shift)) & ((std::uint64_t{1} << digits) - 1);
    const bool half = bit(last - 1);
    const bool up = half && ((kept & 1) != 0 || any_below(last - 1));
    return static_cast<bits>((std::uint64_t{last} << format<T>::fraction_bits) + kept + up);
  }

  constexpr bool bit(unsigned position) const noexcept {
    return (chunk_[position / chunk_bits] >> position % chunk_bits & 1) != 0;
  }
  constexpr bool any_below(unsigned position) const noexcept {
    const std::size_t index = position / chunk_bits;
    for (std::size_t i = 0; i < index; ++i)
      if (chunk_[i] != 0) return true;
    return (chunk_[index] & ((std::int64_t{1} << position % chunk_bits) - 1)) != 0;
  }

  std::array<std::int64_t, chunks> chunk_{};
  // The number of additions since the carries were propagated.
  std::uint32_t pending_ = 0;
  // The flags of what was added.
  std::uint32_t seen_ = 0;
};

extern template void exact_sum<double>::add(std::span<const double>) noexcept;
extern template void exact_sum<float>::add(std::span<const float>) noexcept;

static_assert(std::is_trivially_copyable_v<exact_sum<double>>);
static_assert(sizeof(exact_sum<double>) == 344 && sizeof(exact_sum<float>) == 64);

}  // namespace tutti
