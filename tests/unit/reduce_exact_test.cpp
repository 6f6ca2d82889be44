// SPDX-License-Identifier: Apache-2.0
// Compares exact sums with long integer arithmetic, in any order and split, and on every vector
// unit that this CPU has.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "tests/unit/reduce_values.hpp"
#include "tutti/reduce/exact.hpp"
#include "tutti/reduce/fold.hpp"
#include "tutti/reduce/operations.hpp"

namespace {

using namespace numbers;
using tutti::canonical;
using tutti::exact_sum;

// ---- The oracle: one long two's complement integer, in units of 2^-1200, added to bit by bit ----

class long_integer {
 public:
  void add(double value) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    for (int i = 0; i < 53; ++i)
      if (mantissa >> i & 1)
        add_power(static_cast<std::size_t>(exponent - 53 + i + unit), value < 0);
  }

  // Rounds to nearest, ties to even, by comparing with half of the last place.
  template <class T>
  T rounded() const {
    const bool negative = bit(size - 1);
    const long_integer magnitude = negative ? minus() : *this;
    int top = size - 1;
    while (top >= 0 && !magnitude.bit(top)) --top;
    if (top < 0) return 0;
    const int lowest = limits<T>::min_exponent - limits<T>::digits + unit;
    const int last = std::max(lowest, top - limits<T>::digits + 1);
    std::uint64_t kept = 0;
    for (int i = top; i >= last; --i) kept = kept << 1 | std::uint64_t{magnitude.bit(i)};
    bool below = false;
    for (int i = 0; i < last - 1; ++i) below |= magnitude.bit(i);
    if (magnitude.bit(last - 1) && (below || kept % 2 != 0)) ++kept;
    // At most 2^53, so it is exact; ldexp overflows to infinity as it should.
    const T size_of = std::ldexp(static_cast<T>(kept), last - unit);
    return negative ? -size_of : size_of;
  }

 private:
  static constexpr int unit = 1200;
  static constexpr int size = 2400;
  bool bit(int i) const { return words_[static_cast<std::size_t>(i / 32)] >> (i % 32) & 1; }
  void add_power(std::size_t position, bool negative) {
    std::uint64_t carry = std::uint64_t{1} << position % 32;
    for (std::size_t i = position / 32; i < words_.size() && carry != 0; ++i) {
      if (negative) {
        const bool borrow = words_[i] < carry;
        words_[i] -= static_cast<std::uint32_t>(carry);
        carry = borrow;
      } else {
        const std::uint64_t sum = words_[i] + carry;
        words_[i] = static_cast<std::uint32_t>(sum);
        carry = sum >> 32;
      }
    }
  }
  long_integer minus() const {
    long_integer result = *this;
    for (std::uint32_t& word : result.words_) word = ~word;
    result.add_power(0, false);
    return result;
  }
  std::array<std::uint32_t, size / 32> words_{};
};

template <class T>
T oracle(std::span<const T> values) {
  long_integer sum;
  bool all_minus_zero = !values.empty();
  for (const T value : values) {
    sum.add(value);
    all_minus_zero &= value == 0 && std::signbit(value);
  }
  return all_minus_zero ? -T{0} : sum.rounded<T>();
}

template <class T>
exact_sum<T> one_by_one(std::span<const T> values) {
  exact_sum<T> sum;
  for (const T value : values) sum.add(value);
  return sum;
}
template <class T>
exact_sum<T> all_at_once(std::span<const T> values) {
  exact_sum<T> sum;
  sum.add(values);
  return sum;
}

template <class T>
void expect_same_bytes(exact_sum<T> a, exact_sum<T> b) {
  EXPECT_EQ(a, b);
  a.normalize();
  b.normalize();
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0);
}

double exact(std::initializer_list<double> values) {
  const std::span<const double> all(values.begin(), values.size());
  const double result = one_by_one(all).value();
  EXPECT_EQ(bits(all_at_once(all).value()), bits(result));
  // Long enough for the vector unit; the padding changes nothing but the sign of a sum of -0.
  std::vector<double> padded(all.begin(), all.end());
  padded.insert(padded.end(), 100, -0.0);
  EXPECT_EQ(bits(all_at_once<double>(padded).value()), bits(all.empty() ? -0.0 : result));
  return result;
}

// ---- On every vector unit ----

using ExactOnTarget = on_target;
INSTANTIATE_TEST_SUITE_P(All, ExactOnTarget, testing::ValuesIn(targets()), name_of);

template <class T>
void expect_exact_for_all_kinds() {
  std::mt19937_64 random(20260301);
  for (const kind which : finite_kinds)
    for (const unsigned count : {0u, 1u, 2u, 3u, 17u, 63u, 64u, 65u, 1000u, 1024u, 1025u, 3000u}) {
      const std::vector<T> values = values_of<T>(which, count, random);
      const exact_sum<T> plain = one_by_one<T>(values);
      ASSERT_EQ(bits(plain.value()), bits(oracle<T>(values)))
          << "kind " << static_cast<int>(which) << ", " << count << " values";
      expect_same_bytes(all_at_once<T>(values), plain);
    }
}

TEST_P(ExactOnTarget, DoublesAreCorrectlyRounded) { expect_exact_for_all_kinds<double>(); }
TEST_P(ExactOnTarget, FloatsAreCorrectlyRounded) { expect_exact_for_all_kinds<float>(); }

TEST_P(ExactOnTarget, SpecialValuesAmongManyAreFoundWhereverTheyAre) {
  std::mt19937_64 random(7);
  for (std::size_t at = 0; at < 1100; at += 37)
    for (const double odd : {infinity, -infinity, quiet, other_nan, 5e-324, 1.7e308, -0.0}) {
      std::vector<double> values = values_of<double>(kind::even, 1100, random);
      values[at] = odd;
      ASSERT_EQ(bits(all_at_once<double>(values).value()),
                bits(one_by_one<double>(values).value()));
      expect_same_bytes(all_at_once<double>(values), one_by_one<double>(values));
    }
}

TEST_P(ExactOnTarget, ZerosKeepTheirSign) {
  for (const std::size_t count : {std::size_t{64}, std::size_t{1024}, std::size_t{1500}}) {
    std::vector<double> values(count, -0.0);
    expect_same_bytes(all_at_once<double>(values), one_by_one<double>(values));
    EXPECT_EQ(bits(all_at_once<double>(values).value()), bits(-0.0));
    for (const double odd : {0.0, quiet, 5e-324}) {
      values[count / 3] = odd;
      expect_same_bytes(all_at_once<double>(values), one_by_one<double>(values));
      EXPECT_EQ(bits(all_at_once<double>(values).value()), bits(odd));
    }
  }
}

// ---- Anywhere ----

TEST(ExactSum, OfSpecialValues) {
  EXPECT_EQ(bits(exact({})), bits(0.0));
  EXPECT_EQ(bits(exact({-0.0})), bits(-0.0));
  EXPECT_EQ(bits(exact({-0.0, -0.0})), bits(-0.0));
  EXPECT_EQ(bits(exact({-0.0, 0.0})), bits(0.0));
  EXPECT_EQ(bits(exact({1.5, -1.5})), bits(0.0));
  EXPECT_EQ(bits(exact({1.5, -1.5, -0.0})), bits(0.0));
  EXPECT_EQ(exact({infinity, 1.0}), infinity);
  EXPECT_EQ(exact({-infinity, 1e308, 1e308}), -infinity);
  EXPECT_EQ(bits(exact({infinity, -infinity})), bits(quiet));
  EXPECT_EQ(bits(exact({other_nan})), bits(quiet));
  EXPECT_EQ(bits(exact({infinity, other_nan, 1.0})), bits(quiet));
  EXPECT_EQ(exact({5e-324, 5e-324}), 1e-323);
  EXPECT_EQ(exact({-5e-324}), -5e-324);
}

TEST(ExactSum, OverflowsOnlyWhenTheExactSumDoes) {
  constexpr double largest = limits<double>::max();
  constexpr double half_ulp = 0x1p+970;
  EXPECT_EQ(exact({1e308, 1e308, -1e308}), 1e308);
  EXPECT_EQ(exact({largest, largest, largest, -largest, -largest}), largest);
  EXPECT_EQ(exact({largest, half_ulp}), infinity) << "a tie goes to even, which is beyond";
  EXPECT_EQ(exact({largest, half_ulp, -5e-324}), largest);
  EXPECT_EQ(exact({-largest, -half_ulp}), -infinity);
}

TEST(ExactSum, RoundsTiesToEvenAndSeesTheLastBit) {
  EXPECT_EQ(exact({1.0, 0x1p-53}), 1.0);
  EXPECT_EQ(exact({1.0, 0x1p-53, 5e-324}), 0x1.0000000000001p+0);
  EXPECT_EQ(exact({0x1.0000000000001p+0, 0x1p-53}), 0x1.0000000000002p+0);
  EXPECT_EQ(exact({0x1.0000000000001p+0, 0x1p-53, -5e-324}), 0x1.0000000000001p+0);
  EXPECT_EQ(exact({0x1.fffffffffffffp+0, 0x1p-53}), 2.0);
  EXPECT_EQ(exact({1.0, 1e100, 1.0, -1e100}), 2.0);
}

// Made with Python 3: float(sum(map(fractions.Fraction, values))).
TEST(ExactSum, AgreesWithPythonsFractions) {
  EXPECT_EQ(exact({0x1.4af840135e1e0p-1, 0x1.a32daec5f5538p-3, 0x1.215c15dea0b50p-1,
                   -0x1.a17a912a981d4p-2}),
            0x1.02313c87180cap+0);
  EXPECT_EQ(exact({-0x1.b48e51a90bea2p-19, 0x1.cd0fb72b80280p+17, -0x1.1466dff7890e4p+8,
                   0x1.5252e2b479d0ep-5, 0x1.424f027a899d2p+23, -0x1.08e4d292e12e0p+25}),
            -0x1.6d0918d674242p+24);
  EXPECT_EQ(exact({-0x1.6e7d833585600p+53, -0x1.58efc257919d0p+28, 0x1.5ec06ebf66670p+27,
                   0x1.3a5bbe1942360p-59, 0x1.524b9c4d22886p+38}),
            -0x1.6e7adef3148b3p+53);
  EXPECT_EQ(exact({0x1.b13cf141aebdcp+151, 0x1.e02d9d83fdb20p+72, -0x1.e02d9d83fdb20p+72,
                   0x1.fd586a4cdfed4p-18, 0x1.e216e0d7f3974p-204, -0x1.43dca621c91fep+137,
                   0x1.64be6ff665ef0p+236, -0x1.b13cf141aebdcp+151, -0x1.cf18a572193f0p-42,
                   -0x0.0000000002510p-1022}),
            0x1.64be6ff665ef0p+236);
  EXPECT_EQ(exact({-0x1.4297175f56b48p-752, 0x1.2698827c7ff7ap-670, 0x1.f2c59072fcd40p+673,
                   -0x1.f2c59072fcd40p+673, -0x1.4fbe960ff2d08p-637, -0x1.2698827c7ff7ap-670,
                   0x1.0b6ee81de3774p-180, -0x0.0000000001d90p-1022, -0x1.97077685ff0d0p-384}),
            0x1.0b6ee81de3774p-180);
  EXPECT_EQ(exact({0x1.dd12c1a50ef38p+47, 0x1.5cf06e09ee570p+804, 0x1.1e0517c0743d0p+668,
                   0x1.027c5ad133e68p+40, -0x1.b3de72a3d1744p-105}),
            0x1.5cf06e09ee570p+804);
  EXPECT_EQ(exact({-0x0.006ec6704f8f0p-1022, -0x0.000000000000cp-1022, -0x0.00000000392a0p-1022,
                   0x0.0000000002c85p-1022, -0x0.00000000000dcp-1022, 0x0.000adf54e9daap-1022}),
            -0x0.0063e71b9c249p-1022);
  EXPECT_EQ(exact({-0x1.a773b09bf47ccp+98, 0x1.fffae74eb41c0p-479, -0x1.41cd2031a7850p+155,
                   0x1.9642bd695bb64p-564, -0x0.0000000002abcp-1022, 0x1.cf88872bda38cp+571,
                   -0x1.cf88872bda38cp+571, -0x1.9792610ff3650p+458, 0x1.c652a3aa4a9bep+267,
                   -0x1.3fa58081e78a6p+121, -0x1.9642bd695bb64p-564}),
            -0x1.9792610ff3650p+458);
}

TEST(ExactSum, AnyOrderAndAnySplitHasTheSameBytes) {
  std::mt19937_64 random(11);
  for (const kind which : finite_kinds) {
    std::vector<double> values = values_of<double>(which, 500, random);
    const exact_sum<double> whole = one_by_one<double>(values);
    for (std::size_t ranks = 1; ranks <= 17; ++ranks) {
      std::shuffle(values.begin(), values.end(), random);
      std::vector<exact_sum<double>> parts(ranks);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::size_t first = values.size() * rank / ranks;
        const std::size_t last = values.size() * (rank + 1) / ranks;
        parts[rank].add(std::span(values).subspan(first, last - first));
      }
      exact_sum<double> chain, tree;
      for (const exact_sum<double>& part : parts) chain.merge(part);
      const auto part_of = [&](tutti::rank_t rank) { return parts[rank]; };
      tree = tutti::schedule::fold(0, static_cast<tutti::rank_t>(ranks), part_of, tutti::plus{});
      expect_same_bytes(chain, whole);
      expect_same_bytes(canonical(tree), whole);
    }
  }
}

// The counterpart: a plain sum of the same values depends on their order, so the test above could
// fail.
TEST(ExactSum, APlainSumOfSuchValuesDependsOnTheirOrder) {
  std::mt19937_64 random(11);
  std::vector<double> values = values_of<double>(kind::spread, 500, random);
  const double before = tutti::fold_plain(tutti::plus{}, std::span<const double>(values));
  std::reverse(values.begin(), values.end());
  EXPECT_NE(before, tutti::fold_plain(tutti::plus{}, std::span<const double>(values)));
  EXPECT_NE(exact_sum<double>(1.0), exact_sum<double>(1.0 + 0x1p-52));
  EXPECT_NE(one_by_one<double>(std::array{1.0, 5e-324}), exact_sum<double>(1.0));
}

TEST(ExactSum, CarriesArePassedOnInTime) {
  exact_sum<double> sum;
  long_integer expected;
  constexpr double full = 0x1.fffffffffffffp+1023;
  for (int i = 0; i < 10'000; ++i) {
    const double value = i % 3 == 0 ? full : i % 3 == 1 ? 0x1.fffffffffffffp+51 : 5e-324;
    sum.add(value);
    expected.add(value);
    if (i % 7 != 0) continue;
    // Merges sums of every age that have not passed on their carries either.
    exact_sum<double> other;
    for (int k = 0; k < i % 2047; ++k) other.add(k % 2 == 0 ? -value : value);
    for (int k = 0; k < i % 2047 % 2; ++k) expected.add(-value);
    sum.merge(other);
  }
  for (int i = 0; i < 5'000; ++i) {
    sum.add(-full);
    expected.add(-full);
  }
  EXPECT_EQ(bits(sum.value()), bits(expected.rounded<double>()));
}

TEST(ExactSum, HoldsTwoToTheSixtyLargestValues) {
  exact_sum<double> up(limits<double>::max()), down(-limits<double>::max());
  for (int i = 0; i < 60; ++i) {
    up.merge(up);
    down.merge(down);
  }
  EXPECT_EQ(up.value(), infinity);
  EXPECT_EQ(down.value(), -infinity);
  up.add(3.25);
  up.merge(down);
  EXPECT_EQ(up.value(), 3.25);

  exact_sum<float> small(1.5f);
  for (int i = 0; i < 60; ++i) small.merge(small);
  EXPECT_EQ(small.value(), 0x1.8p+60f);
}

TEST(ExactSum, DoesNotDependOnTheRoundingMode) {
  std::mt19937_64 random(5);
  const std::vector<double> values = values_of<double>(kind::spread, 2000, random);
  const exact_sum<double> expected = one_by_one<double>(values);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const exact_sum<double> sum = all_at_once<double>(values);
    const double value = sum.value();
    std::fesetround(FE_TONEAREST);
    expect_same_bytes(sum, expected);
    EXPECT_EQ(bits(value), bits(expected.value()));
  }
}

#ifdef __SSE2__
TEST(ExactSum, DoesNotDependOnFlushingOfSubnormals) {
  std::mt19937_64 random(6);
  std::vector<double> values = values_of<double>(kind::even, 2000, random);
  values[1000] = 5e-324;
  const exact_sum<double> expected = one_by_one<double>(values);
  const unsigned before = __builtin_ia32_stmxcsr();
  // Flush to zero; denormals are zero.
  __builtin_ia32_ldmxcsr(before | 0x8040);
  const exact_sum<double> sum = all_at_once<double>(values);
  __builtin_ia32_ldmxcsr(before);
  expect_same_bytes(sum, expected);
}
#endif

TEST(ExactSum, WorksAtCompileTimeAndAsAValueOfPlus) {
  constexpr auto sum = tutti::plus{}(exact_sum<double>(0.1), exact_sum<double>(0.2));
  static_assert(sum.value() == 0.30000000000000004);
  static_assert(tutti::plus::identity<exact_sum<float>>().value() == 0);
  const std::array two{exact_sum<float>(1.0f), exact_sum<float>(2.0f)};
  EXPECT_EQ(tutti::plus{}(two, two)[1].value(), 4.0f);
}

}  // namespace
