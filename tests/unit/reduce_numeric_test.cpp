// SPDX-License-Identifier: Apache-2.0
// The arithmetic of reductions: the results of operations for special values, and folds that have
// the same bits on every vector unit that this CPU has.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/refusal.hpp"
#include "tests/unit/reduce_values.hpp"
#include "tutti/reduce/exact.hpp"
#include "tutti/reduce/fold.hpp"
#include "tutti/reduce/operations.hpp"

namespace {

using namespace numbers;
using tutti::canonical;
using tutti::exact_sum;
using tutti::test::expect_refused;

// ---- Operations ----

template <class Op, class T>
concept takes = requires(Op op, T value) {
  op(value, value);
};

TEST(Operations, RefuseWhatTheyAreNotDefinedFor) {
  static_assert(takes<tutti::bit_and, int> && !takes<tutti::bit_and, double>);
  static_assert(takes<tutti::bit_xor, std::array<int, 2>>);
  static_assert(!takes<tutti::bit_or, std::array<float, 2>>);
  static_assert(!takes<tutti::plus, int*> && !takes<tutti::minimum, std::string>);
  static_assert(takes<tutti::plus, exact_sum<float>> &&
                !takes<tutti::multiplies, exact_sum<float>>);
}

template <class Op, class T>
void expect_neutral(std::initializer_list<T> values) {
  const T identity = Op::template identity<T>();
  for (const T value : values) {
    const T left = Op{}(identity, value), right = Op{}(value, identity);
    EXPECT_EQ(std::memcmp(&left, &value, sizeof value), 0) << +value;
    EXPECT_EQ(std::memcmp(&right, &value, sizeof value), 0) << +value;
  }
}

template <class T>
void expect_all_neutral(std::initializer_list<T> values) {
  expect_neutral<tutti::plus, T>(values);
  expect_neutral<tutti::multiplies, T>(values);
  expect_neutral<tutti::minimum, T>(values);
  expect_neutral<tutti::maximum, T>(values);
  if constexpr (std::integral<T>) {
    expect_neutral<tutti::bit_and, T>(values);
    expect_neutral<tutti::bit_or, T>(values);
    expect_neutral<tutti::bit_xor, T>(values);
  }
}

TEST(Operations, TheIdentityChangesNoBit) {
  expect_all_neutral<double>({0.0, -0.0, 1.5, infinity, -infinity, 5e-324, 1e308});
  expect_all_neutral<float>({0.0f, -0.0f, 1.5f, HUGE_VALF, -HUGE_VALF, 1e-45f});
  expect_all_neutral<std::int8_t>({0, -1, 127, -128});
  expect_all_neutral<std::uint16_t>({0, 1, 65535});
  expect_all_neutral<std::int64_t>({0, INT64_MIN, INT64_MAX});
  expect_all_neutral<bool>({false, true});
}

TEST(Operations, IntegersWrap) {
  EXPECT_EQ(tutti::plus{}(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(tutti::plus{}(std::int8_t{127}, std::int8_t{1}), -128);
  EXPECT_EQ(tutti::multiplies{}(std::uint16_t{65535}, std::uint16_t{65535}), 1);
  EXPECT_EQ(tutti::multiplies{}(INT64_MAX, INT64_MAX), 1);
}

TEST(Operations, MinimumAndMaximumOrderZerosAndKeepNaN) {
  const double ordered[] = {-infinity, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, infinity};
  for (const double& a : ordered) {
    for (const double& b : ordered) {
      EXPECT_EQ(bits(tutti::minimum{}(a, b)), bits(*std::min(&a, &b))) << a << ", " << b;
      EXPECT_EQ(bits(tutti::maximum{}(a, b)), bits(*std::max(&a, &b))) << a << ", " << b;
    }
    for (const double nan : {quiet, other_nan}) {
      EXPECT_EQ(bits(tutti::minimum{}(a, nan)), bits(quiet));
      EXPECT_EQ(bits(tutti::minimum{}(nan, a)), bits(quiet));
      EXPECT_EQ(bits(tutti::maximum{}(a, nan)), bits(quiet));
      EXPECT_EQ(bits(tutti::maximum{}(nan, a)), bits(quiet));
    }
  }
}

TEST(Operations, LogicalOnesGiveTruthValues) {
  EXPECT_EQ(tutti::logical_and{}(7, 8), 1);
  EXPECT_EQ(tutti::logical_and{}(7, 0), 0);
  EXPECT_EQ(tutti::logical_or{}(0.0, -2.5), 1.0);
  EXPECT_EQ(tutti::logical_or{}(0.0, -0.0), 0.0);
  EXPECT_EQ(tutti::logical_and::identity<int>(), 1);
  EXPECT_EQ(tutti::logical_or::identity<int>(), 0);
}

TEST(Operations, ArraysElementByElementAtAnyDepth) {
  using pair = std::array<std::array<int, 2>, 2>;
  constexpr pair a{{{1, 2}, {3, 4}}}, b{{{10, 1}, {30, 1}}};
  static_assert(tutti::plus{}(a, b) == pair{{{11, 3}, {33, 5}}});
  static_assert(tutti::minimum{}(a, b) == pair{{{1, 1}, {3, 1}}});
  static_assert(tutti::multiplies::identity<pair>() == pair{{{1, 1}, {1, 1}}});
}

TEST(Canonical, MakesEveryNaNTheOneAndLeavesTheRest) {
  EXPECT_NE(bits(other_nan), bits(quiet));
  EXPECT_EQ(bits(canonical(other_nan)), bits(quiet));
  EXPECT_EQ(bits(canonical(infinity - infinity)), bits(quiet));
  EXPECT_EQ(bits(canonical(std::bit_cast<float>(0x7fa00000u))), bits(limits<float>::quiet_NaN()));
  EXPECT_TRUE(std::isnan(canonical(limits<long double>::signaling_NaN())));
  const std::array<std::array<double, 1>, 2> nested =
      canonical(std::array<std::array<double, 1>, 2>{{{other_nan}, {-0.0}}});
  EXPECT_EQ(bits(nested[0][0]), bits(quiet));
  EXPECT_EQ(bits(nested[1][0]), bits(-0.0));
  for (const double kept : {0.0, -0.0, infinity, -infinity, 5e-324, -1.5})
    EXPECT_EQ(bits(canonical(kept)), bits(kept));
  EXPECT_EQ(canonical(INT64_MIN), INT64_MIN);
}

// ---- Folds ----

using FoldOnTarget = on_target;
INSTANTIATE_TEST_SUITE_P(All, FoldOnTarget, testing::ValuesIn(targets()), name_of);

// Dispatch must choose the target that the test asked for; otherwise all the tests above would be
// one test.
TEST_P(FoldOnTarget, IsDispatchedAtRunTime) {
  if (std::popcount(static_cast<std::uint64_t>(HWY_TARGETS)) == 1)
    GTEST_SKIP() << "compiled for this CPU only: nothing is dispatched";
  ASSERT_FALSE(hwy::GetChosenTarget().IsInitialized());
  EXPECT_EQ(tutti::fold(tutti::plus{}, std::vector<double>(100, 1.0)), 100.0);
  EXPECT_TRUE(hwy::GetChosenTarget().IsInitialized());
  EXPECT_EQ(hwy::SupportedTargets(), GetParam());
}

// The order that fold.hpp defines, written once more, one element at a time.
double fold_by_definition(std::span<const double> values) {
  double lane[16];
  for (double& sum : lane) sum = -0.0;
  for (std::size_t i = 0; i < values.size(); ++i) lane[i & 15] += values[i];
  double eight[8], four[4];
  for (int i = 0; i < 8; ++i) eight[i] = lane[i] + lane[i + 8];
  for (int i = 0; i < 4; ++i) four[i] = eight[i] + eight[i + 4];
  return (four[0] + four[2]) + (four[1] + four[3]);
}

TEST(Fold, PlainFollowsTheDefinition) {
  std::mt19937_64 random(3);
  for (std::size_t count = 0; count < 100; ++count) {
    const std::vector<double> values = values_of<double>(kind::spread, count, random);
    EXPECT_EQ(bits(tutti::fold_plain(tutti::plus{}, std::span<const double>(values))),
              bits(fold_by_definition(values)));
  }
}

template <class T>
std::vector<std::vector<T>> fold_inputs(std::size_t count, std::mt19937_64& random) {
  std::vector<std::vector<T>> inputs;
  if constexpr (std::floating_point<T>) {
    for (const kind which : finite_kinds) inputs.push_back(values_of<T>(which, count, random));
    inputs.push_back(values_of<T>(kind::special, count, random));
    inputs.emplace_back(count);
    for (T& zero : inputs.back()) zero = random() % 8 == 0 ? -T{0} : T{0};
    inputs.emplace_back(count);
    for (T& zero : inputs.back()) zero = random() % 8 == 0 ? T{0} : -T{0};
  } else {
    inputs.emplace_back(count);
    for (T& value : inputs.back()) value = static_cast<T>(random());
  }
  return inputs;
}

template <class Op, class T>
void expect_same_fold_and_combine() {
  std::mt19937_64 random(99);
  std::vector<std::size_t> counts{1000, 4096, 5000};
  for (std::size_t count = 0; count < 100; ++count) counts.push_back(count);
  for (const std::size_t count : counts) {
    const auto inputs = fold_inputs<T>(count, random);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<T>& values = inputs[i];
      const T plain = tutti::fold_plain(Op{}, std::span<const T>(values));
      ASSERT_EQ(bits(tutti::fold(Op{}, values)), bits(plain)) << "input " << i << ", " << count;
      std::vector<T> expected = inputs[(i + 1) % inputs.size()], found = expected;
      tutti::combine_plain(Op{}, std::span(expected), std::span<const T>(values));
      tutti::combine(Op{}, found, values);
      ASSERT_TRUE(count == 0 || std::memcmp(expected.data(), found.data(), count * sizeof(T)) == 0)
          << "input " << i << ", " << count;
    }
  }
}

template <class T>
void expect_same_for_all_operations() {
  expect_same_fold_and_combine<tutti::plus, T>();
  expect_same_fold_and_combine<tutti::multiplies, T>();
  expect_same_fold_and_combine<tutti::minimum, T>();
  expect_same_fold_and_combine<tutti::maximum, T>();
}

TEST_P(FoldOnTarget, DoublesHaveThePlainBits) { expect_same_for_all_operations<double>(); }
TEST_P(FoldOnTarget, FloatsHaveThePlainBits) { expect_same_for_all_operations<float>(); }
TEST_P(FoldOnTarget, Int32HaveThePlainBits) { expect_same_for_all_operations<std::int32_t>(); }
TEST_P(FoldOnTarget, Int64HaveThePlainBits) { expect_same_for_all_operations<std::int64_t>(); }

TEST_P(FoldOnTarget, RowsHaveThePlainBits) {
  std::mt19937_64 random(4);
  for (const kind which : {kind::spread, kind::everything, kind::special})
    for (tutti::rank_t rows = 0; rows < 70; ++rows)
      for (std::size_t width = 1; width <= 8; ++width) {
        const std::size_t stride = width + rows % 3;
        const std::vector<double> values = values_of<double>(which, rows * stride, random);
        std::array<double, 9> plain{}, found{};
        tutti::fold_rows_plain(values.data(), rows, width, stride, plain.data());
        tutti::fold_rows(values.data(), rows, width, stride, found.data());
        ASSERT_EQ(std::memcmp(plain.data(), found.data(), sizeof plain), 0)
            << rows << " rows, width " << width << ", stride " << stride;
      }
}

TEST(FoldRows, FollowsTheTournament) {
  std::mt19937_64 random(8);
  const std::vector<double> v = values_of<double>(kind::spread, 7, random);
  double result = 0;
  tutti::fold_rows(v.data(), 5, 1, 1, &result);
  EXPECT_EQ(result, ((v[0] + v[1]) + (v[2] + v[3])) + v[4]);
  tutti::fold_rows(v.data(), 7, 1, 1, &result);
  EXPECT_EQ(result, ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + v[6]));
}

TEST(FoldMisuse, IsRefusedWithASentence) {
  std::array<double, 20> values{}, result{};
  result.fill(7.0);
  for (const std::size_t width : {std::size_t{0}, std::size_t{9}}) {
    expect_refused([&] { tutti::fold_rows(values.data(), 2, width, 10, result.data()); }, "width");
    expect_refused([&] { tutti::fold_rows_plain(values.data(), 2, width, 10, result.data()); },
                   "width");
  }
  expect_refused([&] { tutti::fold_rows(values.data(), 2, 4, 3, result.data()); }, "stride");
  expect_refused([&] { tutti::combine(tutti::plus{}, result, std::span(values).first(19)); },
                 "length");
  EXPECT_EQ(std::count(result.begin(), result.end(), 7.0), 20) << "something was written";
}

}  // namespace
