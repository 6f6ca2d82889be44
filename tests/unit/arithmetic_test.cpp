// SPDX-License-Identifier: Apache-2.0
// Tests the arithmetic on which the hot paths rely: division by an invariant, counters that wrap,
// deadlines.

#include "tutti/schedule/arithmetic.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <ratio>

#include "tutti/barrier/participant.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/barrier/timed.hpp"
#include "tutti/platform/wide_product.hpp"
#include "tutti/wait/deadline.hpp"

namespace {

using tutti::detail::ns_of;

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

TEST(CeilDiv, DoesNotOverflow) {
  using tutti::schedule::ceil_div;
  EXPECT_EQ(ceil_div(10, 0xffffffff), 1u);
  EXPECT_EQ(ceil_div(0xffffffff, 2), 0x80000000u);
  EXPECT_EQ(ceil_div(0, 7), 0u);
  EXPECT_EQ(ceil_div(14, 7), 2u);
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

// ---- nanoseconds of durations

constexpr std::uint64_t second = 1'000'000'000, hour = 3600 * second;
constexpr std::uint64_t longest = INT64_MAX / 2;
using timer_ticks = std::chrono::duration<std::int64_t, std::ratio<1, 1193182>>;
using samples = std::chrono::duration<std::int64_t, std::ratio<1, 44100>>;
using film_frames = std::chrono::duration<std::int64_t, std::ratio<1001, 24000>>;

TEST(NanosecondsOf, UsualUnits) {
  using namespace std::chrono_literals;
  EXPECT_EQ(ns_of(7ns), 7u);
  EXPECT_EQ(ns_of(3us), 3000u);
  EXPECT_EQ(ns_of(2h), 2 * hour);
  EXPECT_EQ(ns_of(std::chrono::duration<unsigned char>(200)), 200 * second);
  EXPECT_EQ(ns_of(std::chrono::duration<std::int64_t, std::pico>(1)), 1u) << "rounded up";
  EXPECT_EQ(ns_of(std::chrono::duration<std::int64_t, std::pico>(2000)), 2u);
  EXPECT_EQ(ns_of(std::chrono::duration<std::int64_t, std::pico>::max()), INT64_MAX / 1000 + 1);
}

TEST(NanosecondsOf, OddUnits) {
  for (const unsigned hours : {1u, 4u, 5u, 9u, 24u * 365})
    EXPECT_EQ(ns_of(timer_ticks(std::int64_t{1193182} * 3600 * hours)), hour * hours);
  EXPECT_EQ(ns_of(timer_ticks(1)), 839u) << "838.09 rounded up";
  EXPECT_EQ(ns_of(samples(std::int64_t{44100} * 3600 * 24 * 365)), 24 * 365 * hour);
  EXPECT_EQ(ns_of(samples(44101)), second + 22676);
  EXPECT_EQ(ns_of(film_frames(std::int64_t{24000} * 3600)), 1001 * hour);
  EXPECT_EQ(ns_of(film_frames(1)), 41'708'334u);
}

// A product of a multiplier and a divisor that has more than 64 bits.
TEST(NanosecondsOf, UnitsForWhichFloatingPointMustDo) {
  using unit = std::chrono::duration<std::int64_t, std::ratio<1, 1'000'000'000'039>>;
  EXPECT_EQ(ns_of(unit(1)), 1u);
  EXPECT_NEAR(static_cast<double>(ns_of(unit(1'000'000'000'039'000))), 1e12, 1);
}

TEST(NanosecondsOf, NoTimeAndTooLongTimes) {
  EXPECT_EQ(ns_of(timer_ticks(0)), 0u);
  EXPECT_EQ(ns_of(timer_ticks(-1)), 0u);
  EXPECT_EQ(ns_of(timer_ticks::min()), 0u);
  EXPECT_EQ(ns_of(timer_ticks::max()), longest);
  EXPECT_EQ(ns_of(samples::min()), 0u);
  EXPECT_EQ(ns_of(samples::max()), longest);
  EXPECT_EQ(ns_of(std::chrono::hours::min()), 0u);
  EXPECT_EQ(ns_of(std::chrono::hours::max()), longest);
  EXPECT_EQ(ns_of(std::chrono::nanoseconds(longest - 1000)), longest - 1000);
  EXPECT_EQ(ns_of(std::chrono::nanoseconds::max()), longest);
  EXPECT_EQ(ns_of(std::chrono::duration<std::uint64_t>(UINT64_MAX)), longest);
}

TEST(NanosecondsOf, FloatingPoint) {
  using seconds = std::chrono::duration<double>;
  using limits = std::numeric_limits<double>;
  EXPECT_EQ(ns_of(seconds(0.5)), second / 2);
  EXPECT_EQ(ns_of(std::chrono::duration<float>(0.25F)), second / 4);
  EXPECT_EQ(ns_of(std::chrono::duration<long double, std::nano>(1.5L)), 2u);
  EXPECT_EQ(ns_of(std::chrono::duration<double, timer_ticks::period>(1193182. * 18000)), 5 * hour);
  EXPECT_EQ(ns_of(seconds(limits::denorm_min())), limits::denorm_min() * 1e9 > 0 ? 1u : 0u);
  EXPECT_EQ(ns_of(seconds(-1e-9)), 0u);
  EXPECT_EQ(ns_of(seconds(1e300)), longest);
  EXPECT_EQ(ns_of(seconds(limits::max())), longest);
  EXPECT_EQ(ns_of(seconds(limits::lowest())), 0u);
  EXPECT_EQ(ns_of(seconds(limits::infinity())), longest);
  EXPECT_EQ(ns_of(seconds(-limits::infinity())), 0u);
  EXPECT_EQ(ns_of(seconds(limits::quiet_NaN())), 0u);
}

// A clock that stands still at a time of its own.
template <std::int64_t Now>
struct standing_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<standing_clock>;
  static constexpr bool is_steady = false;
  static time_point now() noexcept { return time_point(duration(Now)); }
};

// The instant is `distance` after the clock's present one, to a microsecond and what the two looks
// at the platform's clock are apart.
template <class Clock, class Duration>
void expect_distance(std::chrono::time_point<Clock, Duration> when, double distance_ns) {
  const std::uint64_t before = tutti::native::now_ns();
  const std::uint64_t at = tutti::deadline_at(when).ns();
  const std::uint64_t after = tutti::native::now_ns();
  EXPECT_GE(static_cast<double>(at - before), distance_ns - 1000);
  EXPECT_LE(static_cast<double>(at - after), distance_ns + 1000);
}

template <class Clock>
void expect_distances() {
  const auto now = Clock::now().time_since_epoch();
  const auto whole = std::chrono::floor<std::chrono::seconds>(now);
  const double past = static_cast<double>((now - whole).count());
  for (const int hours : {1, 5, 9, 24 * 365}) {
    const std::int64_t ahead = whole.count() + std::int64_t{3600} * hours;
    const double distance = static_cast<double>(hour) * hours - past;
    expect_distance(std::chrono::time_point<Clock, timer_ticks>(timer_ticks(1193182 * ahead)),
                    distance);
    expect_distance(std::chrono::time_point<Clock, samples>(samples(44100 * ahead)), distance);
    expect_distance(
        std::chrono::time_point<Clock, std::chrono::seconds>(std::chrono::seconds(ahead)),
        distance);
  }
}

TEST(NanosecondsOf, InstantsOfAnotherClockInOddUnits) {
  expect_distances<standing_clock<12'345'678>>();
  // Half a century after the epoch, and a century and a half before it.
  expect_distances<standing_clock<1'800'000'000'123'456'789>>();
  expect_distances<standing_clock<-4'700'000'000'123'456'789>>();
}

}  // namespace
