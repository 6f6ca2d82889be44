// SPDX-License-Identifier: Apache-2.0
// Loops: every schedule calls each index exactly once, and reducing loops combine in the order that they promise.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "teams.hpp"
#include "tutti/reduce/exact.hpp"

namespace {

using tutti::loop;
using tutti::loop_options;
using tutti::rank_t;
using tutti::team;
using tutti::test::shape;

constexpr loop kinds[] = {loop::static_blocks, loop::static_chunks, loop::dynamic_chunks,
                          loop::guided_chunks};

// Ranks 1 to 9 on 1 to 8 threads, more threads than cores among them, and many virtual ranks.
std::vector<shape> shapes() {
  std::vector<shape> all;
  for (rank_t ranks = 1; ranks <= 9; ++ranks) all.push_back({std::min(ranks, rank_t{8}), ranks});
  for (const rank_t threads : {1u, 2u})
    for (const rank_t ranks : {3u, 8u, 17u, 64u}) all.push_back({threads, ranks});
  all.push_back({3, 0, "tournament", "adaptive"});
  all.push_back({2, 5, "atomic", "yield"});
  return all;
}

class Loop : public testing::TestWithParam<shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Loop, testing::ValuesIn(shapes()), tutti::test::name_of_shape);

TEST_P(Loop, CallsEachIndexOnce) {
  team t(GetParam().options());
  const std::size_t n = t.size();
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t first : {std::size_t{0}, std::size_t{13}})
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1, std::size_t{1000}})
      for (const loop kind : kinds)
        for (const std::size_t chunk : {std::size_t{0}, std::size_t{1}, std::size_t{7},
                                        std::size_t{5000}, most / 2 + 1, most}) {
          // Plain: two ranks that take the same index are a race, too.
          std::vector<unsigned> calls(count);
          t.parallel_for(first, first + count, [&](std::size_t i) { ++calls.at(i - first); },
                         {.kind = kind, .chunk = chunk});
          ASSERT_EQ(calls, std::vector<unsigned>(count, 1u))
              << "kind " << static_cast<int>(kind) << ", chunk " << chunk << ", count " << count;
        }
}

TEST_P(Loop, OfNothingCallsNothing) {
  team t(GetParam().options());
  for (const loop kind : kinds) {
    t.parallel_for(5, 5, [](std::size_t) { FAIL(); }, {.kind = kind});
    t.parallel_for(5, 3, [](std::size_t) { FAIL(); }, {.kind = kind});
  }
  const auto never = [](std::size_t) -> double {
    ADD_FAILURE();
    return 0;
  };
  EXPECT_EQ(t.parallel_reduce(5, 5, tutti::minimum{}, never),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(t.parallel_reduce(5, 3, tutti::multiplies{}, never), 1.0);
  EXPECT_EQ(t.parallel_reduce_any(5, 3, tutti::maximum{}, never),
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(t.parallel_reduce(0, 0, tutti::plus{}, never)));
}

TEST_P(Loop, DealsBlocksThatDifferByAtMostOne) {
  team t(GetParam().options());
  for (const std::size_t count : {0, 1, 5, 64, 1000}) {
    std::vector<tutti::member::range> blocks(t.size());
    t.run([&](tutti::member& me) { blocks[me.rank()] = me.block(count); });
    std::size_t next = 0;
    for (const auto& b : blocks) {
      ASSERT_EQ(b.first, next);
      next = b.last;
      ASSERT_GE(b.last - b.first, count / t.size());
      ASSERT_LE(b.last - b.first, count / t.size() + 1);
    }
    ASSERT_EQ(next, count);
  }
}

// ---- reducing loops

double value_of(std::size_t i) {
  std::minstd_rand random(static_cast<unsigned>(i + 1));
  return std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 100) - 50) *
         (i % 2 == 0 ? 1 : -1);
}

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The definition of loop.hpp, written once more: eight lanes, then the tournament of the lanes.
double lanes(std::size_t first, std::size_t last) {
  if (last - first < 16) {
    double sum = value_of(first);
    for (std::size_t i = first + 1; i < last; ++i) sum += value_of(i);
    return sum;
  }
  double lane[8];
  for (std::size_t k = 0; k < 8; ++k) {
    lane[k] = value_of(first + k);
    for (std::size_t i = first + k + 8; i < last; i += 8) lane[k] += value_of(i);
  }
  return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

double tournament(std::vector<double> values) {
  for (std::size_t hop = 1; hop < values.size(); hop *= 2)
    for (std::size_t i = 0; i + hop < values.size(); i += 2 * hop) values[i] += values[i + hop];
  return values[0];
}

TEST_P(Loop, ReducesInTheOrderOfItsPartsAndRanks) {
  team t(GetParam().options());
  for (const std::size_t count : {1, 2, 15, 16, 17, 24, 100, 1003}) {
    std::vector<double> parts;
    for (rank_t r = 0; r < t.size(); ++r) {
      const std::size_t share = count / t.size(), rest = count % t.size();
      const std::size_t first = r * share + std::min<std::size_t>(r, rest);
      const std::size_t last = first + share + (r < rest ? 1 : 0);
      parts.push_back(first == last ? -0.0 : lanes(first, last));
    }
    for (int again = 0; again < 3; ++again)
      ASSERT_EQ(bytes_of(t.parallel_reduce(0, count, tutti::plus{}, value_of)),
                bytes_of(tournament(parts)))
          << count;
  }
}

TEST_P(Loop, ReducesToTheSameBitsOnAnyNumberOfRanks) {
  team t(GetParam().options());
  for (const std::size_t count : {1, 7, 127, 128, 129, 1000, 5003}) {
    const std::size_t blocks = std::min<std::size_t>(count, 128);
    std::vector<double> parts;
    for (std::size_t b = 0; b < blocks; ++b)
      parts.push_back(lanes(count * b / blocks, count * (b + 1) / blocks));
    ASSERT_EQ(bytes_of(t.parallel_reduce_any(0, count, tutti::plus{}, value_of)),
              bytes_of(tournament(parts)))
        << count;
  }
  // Exact sums do not even depend on the order.
  tutti::exact_sum<double> one_by_one;
  for (std::size_t i = 0; i < 1000; ++i) one_by_one.add(value_of(i));
  const auto exact = [](std::size_t i) { return tutti::exact_sum<double>(value_of(i)); };
  const auto sum = t.parallel_reduce(0, 1000, tutti::plus{}, exact);
  EXPECT_EQ(bytes_of(sum.value()), bytes_of(one_by_one.value()));
  const auto in_region = t.run_reduce(tutti::plus{}, [&](tutti::member& me) {
    tutti::exact_sum<double> mine;
    const auto [first, last] = me.block(1000);
    for (std::size_t i = first; i < last; ++i) mine.add(value_of(i));
    return me.rank() == 0 ? me.reduce(tutti::plus{}, mine)
                          : (me.reduce(tutti::plus{}, mine), tutti::exact_sum<double>{});
  });
  EXPECT_EQ(bytes_of(in_region.value()), bytes_of(one_by_one.value()));
}

TEST_P(Loop, ReducesByOperationsWithoutIdentity) {
  team t(GetParam().options());
  const auto square = [](std::size_t i) { return std::uint64_t{i} * i; };
  // A rank without an index must not add a zero.
  const auto least = [](std::uint64_t a, std::uint64_t b) { return a < b ? a : b; };
  for (const std::size_t count : {1, 2, 5, 100}) {
    EXPECT_EQ(t.parallel_reduce(3, 3 + count, least, square), 9u);
    EXPECT_EQ(t.parallel_reduce_any(3, 3 + count, least, square), 9u);
  }
  EXPECT_EQ(t.parallel_reduce(3, 3, least, square), 0u);
  EXPECT_EQ(t.parallel_reduce_any(3, 3, least, square), 0u);
}

// A NaN is the one quiet NaN whatever made it, with an identity or without.
TEST_P(Loop, MakesNaNsTheOne) {
  team t(GetParam().options());
  const double made = -std::numeric_limits<double>::quiet_NaN();
  const auto nan = [=](std::size_t i) { return i == 3 ? made : 1.0; };
  const auto sum = [](double a, double b) { return a + b; };
  const auto quiet = bytes_of(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(bytes_of(t.parallel_reduce(0, 9, tutti::plus{}, nan)), quiet);
  EXPECT_EQ(bytes_of(t.parallel_reduce(0, 9, sum, nan)), quiet);
  EXPECT_EQ(bytes_of(t.parallel_reduce(3, 4, sum, nan)), quiet);
  EXPECT_EQ(bytes_of(t.parallel_reduce_any(0, 9, sum, nan)), quiet);
}

TEST_P(Loop, ReducesLargeValues) {
  team t(GetParam().options());
  using large = std::array<double, 40>;
  const auto values = [](std::size_t i) {
    large v;
    v.fill(static_cast<double>(i));
    return v;
  };
  large expected;
  expected.fill(99 * 50);
  EXPECT_EQ(t.parallel_reduce(0, 100, tutti::plus{}, values), expected);
  EXPECT_EQ(t.parallel_reduce_any(0, 100, tutti::plus{}, values), expected);
}

}  // namespace
