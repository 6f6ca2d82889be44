// SPDX-License-Identifier: Apache-2.0
// Tests the arithmetic on which the hot paths rely: division by an invariant, counters that wrap,
// deadlines.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "tutti/barrier/participant.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/platform/wide_product.hpp"
#include "tutti/wait/deadline.hpp"

namespace {

constexpr std::uint64_t last_numerator = (std::uint64_t{1} << 63) - 1;

void expect_exact(std::uint32_t divisor, std::uint64_t numerator) {
  if (numerator > last_numerator) return;
  ASSERT_EQ(tutti::fast_divisor(divisor).quotient(numerator), numerator / divisor)
      << numerator << " / " << divisor;
}

// A wrong multiplier shows first around multiples of the divisor and at the end of the range.
void expect_exact_at_edges(std::uint32_t divisor) {
  const std::uint64_t last_multiple = last_numerator / divisor * divisor;
  const std::uint64_t middle = last_multiple / divisor / 2 * divisor;
  for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{divisor}, middle, last_multiple,
                                   last_numerator, std::uint64_t{1} << 32, std::uint64_t{1} << 62})
    for (std::uint64_t step = 0; step <= 2; ++step) {
      expect_exact(divisor, base + step);
      if (base >= step) expect_exact(divisor, base - step);
    }
}

TEST(FastDivisor, IsExactAtTheEdgesForEverySmallDivisor) {
  for (std::uint32_t divisor = 1; divisor <= 4096; ++divisor) expect_exact_at_edges(divisor);
}

TEST(FastDivisor, IsExactAtTheEdgesForLargeDivisors) {
  for (std::uint32_t log2 = 12; log2 < 32; ++log2)
    for (std::uint32_t step = 0; step <= 2; ++step) {
      expect_exact_at_edges((std::uint32_t{1} << log2) + step);
      expect_exact_at_edges((std::uint32_t{1} << log2) - step);
    }
  expect_exact_at_edges(UINT32_MAX);
}

TEST(FastDivisor, IsExactForRandomPairs) {
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 1'000'000; ++i) {
    const auto divisor = static_cast<std::uint32_t>(random() >> (32 + random() % 32)) | 1u;
    expect_exact(divisor, random() >> (1 + random() % 63));
  }
}

TEST(FastDivisor, WorksAtCompileTime) {
  static_assert(tutti::fast_divisor(3).quotient(last_numerator) == last_numerator / 3);
  static_assert(tutti::fast_divisor(1).quotient(last_numerator) == last_numerator);
}

// What a compiler without an integer type of 128 bits uses, beside what this one uses.
TEST(WideProduct, IsTheSameByHalves) {
  namespace by_halves = tutti::platform::by_halves;
  std::mt19937_64 random(20261124);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t a = random() >> random() % 64, b = random() >> random() % 64;
    const auto shift = static_cast<std::uint32_t>(63 + random() % 65);
    ASSERT_EQ(by_halves::shifted_product(a, b, shift),
              tutti::platform::shifted_product(a, b, shift))
        << a << " * " << b << " >> " << shift;
  }
  const auto expect_same = [](std::uint32_t divisor) {
    std::uint32_t log2 = 0;
    while ((std::uint64_t{1} << log2) < divisor) ++log2;
    EXPECT_EQ(by_halves::power_over(63 + log2, divisor),
              tutti::platform::power_over(63 + log2, divisor))
        << divisor;
  };
  for (std::uint32_t divisor = 1; divisor <= 4096; ++divisor) expect_same(divisor);
  for (std::uint32_t log2 = 12; log2 < 32; ++log2)
    for (std::uint32_t step = 0; step <= 2; ++step) {
      expect_same((std::uint32_t{1} << log2) + step);
      expect_same((std::uint32_t{1} << log2) - step);
    }
  expect_same(UINT32_MAX);
}

TEST(Reached, ComparesAcrossTheWrap) {
  using tutti::reached;
  EXPECT_TRUE(reached(5)(5));
  EXPECT_TRUE(reached(5)(6));
  EXPECT_FALSE(reached(5)(4));
  EXPECT_TRUE(reached(UINT32_MAX)(UINT32_MAX));
  EXPECT_TRUE(reached(UINT32_MAX)(0)) << "0 follows 2^32 - 1";
  EXPECT_FALSE(reached(0)(UINT32_MAX));
}

TEST(Deadline, NoneNeverPasses) {
  EXPECT_FALSE(tutti::no_deadline::passed<tutti::native>());
  EXPECT_EQ(tutti::no_deadline::ns(), tutti::platform::forever_ns);
}

TEST(Deadline, PassesWithTheClock) {
  const std::uint64_t now = tutti::native::now_ns();
  EXPECT_TRUE(tutti::deadline(0).passed<tutti::native>());
  EXPECT_TRUE(tutti::deadline(now).passed<tutti::native>());
  EXPECT_FALSE(tutti::deadline(now + 3'600'000'000'000u).passed<tutti::native>());
  const tutti::deadline soon(now + 1'000'000);
  while (!soon.passed<tutti::native>()) {
  }
  EXPECT_GE(tutti::native::now_ns(), now + 1'000'000);
}

TEST(Clock, IsMonotonic) {
  std::uint64_t before = tutti::native::now_ns();
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t now = tutti::native::now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

}  // namespace
