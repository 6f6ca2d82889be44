// SPDX-License-Identifier: Apache-2.0
// Reductions of std::complex and of a program's own types, also by an operation that is not
// commutative: the values are combined in the order of the ranks, or of i.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "tutti/reduce/reduction.hpp"
#include "tutti/team/team.hpp"

namespace tutti {
namespace {

using complex = std::complex<double>;

// Its normalize() makes another value of it.
struct direction {
  double x = 0, y = 0;
  void normalize() {
    const double length = std::hypot(x, y);
    x /= length;
    y /= length;
  }
  friend direction operator+(direction a, direction b) { return {a.x + b.x, a.y + b.y}; }
};

struct money {
  long cents = 0;
  friend money operator+(money a, money b) { return {a.cents + b.cents}; }
};

// The product is associative and not commutative; unsigned numbers make it exact.
struct matrix {
  std::array<std::uint64_t, 4> at{};
  static matrix of(std::uint64_t i) { return {{i + 1, i * i, 3, i ^ 5}}; }
  friend matrix operator*(const matrix& x, const matrix& y) {
    return {{x.at[0] * y.at[0] + x.at[1] * y.at[2], x.at[0] * y.at[1] + x.at[1] * y.at[3],
             x.at[2] * y.at[0] + x.at[3] * y.at[2], x.at[2] * y.at[1] + x.at[3] * y.at[3]}};
  }
  friend bool operator==(const matrix&, const matrix&) = default;
};

matrix product(std::uint64_t first, std::uint64_t last) {
  matrix all = matrix::of(first);
  for (std::uint64_t i = first + 1; i < last; ++i) all = all * matrix::of(i);
  return all;
}

// Runs call(rank) by a thread for each rank.
template <class Call>
void by_threads(rank_t n, Call call) {
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < n; ++r) threads.emplace_back([&call, r] { call(r); });
  for (auto& t : threads) t.join();
}

TEST(ReducedTypes, WithAFunctionThatIsCalledNormalizeKeepTheirValues) {
  reduction<direction> of_threads(2);
  std::atomic<int> wrong{0};
  by_threads(2, [&](rank_t r) {
    const direction sum = of_threads.all(r, {3, 4});
    if (sum.x != 6 || sum.y != 8) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
  team workers(team_options{.threads = 2});
  workers.run([&](member& me) {
    const direction sum = me.reduce(plus{}, direction{3, 4});
    if (sum.x != 6 || sum.y != 8) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
  const auto each = [](std::size_t) { return direction{1, 0}; };
  EXPECT_EQ(workers.parallel_reduce(0, 4, plus{}, each).x, 4);
}

TEST(ReducedTypes, ComplexNumbersAndArraysOfThem) {
  using value = std::array<complex, 2>;
  reduction<value> total(3);
  std::atomic<int> wrong{0};
  by_threads(3, [&](rank_t r) {
    const double x = r + 1;
    const value sum = total.all(r, {complex(x, -x), complex(0, 10 * x)});
    if (sum != value{complex(6, -6), complex(0, 60)}) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ReducedTypes, TheIdentityOfAComplexSumKeepsTheSignsOfZeros) {
  const complex zero = plus{}(plus::identity<complex>(), complex(-0.0, -0.0));
  EXPECT_TRUE(std::signbit(zero.real()));
  EXPECT_TRUE(std::signbit(zero.imag()));
}

TEST(ReducedTypes, TheNansOfAComplexNumberAreCanonical) {
  const complex value = canonical(complex(-std::nan("7"), 1));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value.real()),
            std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(value.imag(), 1);
}

TEST(ReducedTypes, AProductOfComplexNumbersHasNoIdentity) {
  constexpr auto has_identity = []<class T>(T) {
    return requires { multiplies::identity<T>(); };
  };
  EXPECT_FALSE(has_identity(complex()));
  EXPECT_TRUE(has_identity(1.0));
}

TEST(ReducedTypes, ATypeWithTheOperator) {
  reduction<money> total(2);
  std::atomic<long> sum{0};
  by_threads(2, [&](rank_t r) { sum += total.all(r, {100 + static_cast<long>(r)}).cents; });
  EXPECT_EQ(sum, 402);
  team four(team_options{.threads = 4});
  EXPECT_EQ(four.parallel_reduce(0, 1000, plus{},
                                 [](std::size_t i) { return money{static_cast<long>(i)}; })
                .cents,
            499'500);
  EXPECT_EQ(four.parallel_reduce(5, 5, plus{}, [](std::size_t) { return money{1}; }).cents, 0);
}

TEST(ReducedInOrder, EveryAlgorithmCombinesInTheOrderOfTheRanks) {
  for (const auto& algorithm : reductions)
    for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 9u}) {
      if (algorithm.only_for != 0 && algorithm.only_for != n) continue;
      reduction<matrix, multiplies> all(n, {}, algorithm.name);
      std::atomic<int> wrong{0};
      by_threads(n, [&](rank_t r) {
        for (int episode = 0; episode < 3; ++episode)
          if (all.all(r, matrix::of(r)) != product(0, n)) ++wrong;
      });
      EXPECT_EQ(wrong, 0) << algorithm.name << ' ' << n;
    }
}

TEST(ReducedInOrder, RegionsAndMembers) {
  for (const rank_t ranks : {1u, 3u, 4u, 10u}) {
    team some(team_options{.threads = ranks > 4 ? 2 : ranks, .ranks = ranks});
    EXPECT_EQ(some.run_reduce(multiplies{}, [](member& me) { return matrix::of(me.rank()); }),
              product(0, ranks));
    std::atomic<int> wrong{0};
    some.run([&](member& me) {
      if (me.reduce(multiplies{}, matrix::of(me.rank())) != product(0, ranks)) ++wrong;
      if (me.inclusive_scan(multiplies{}, matrix::of(me.rank())) != product(0, me.rank() + 1))
        ++wrong;
    });
    EXPECT_EQ(wrong, 0) << ranks;
  }
}

TEST(ReducedInOrder, LoopsOfAnyLength) {
  for (const rank_t ranks : {1u, 2u, 3u, 7u}) {
    team some(team_options{.threads = 2, .ranks = ranks < 2 ? 2 : ranks});
    for (const std::size_t count : {1u, 2u, 15u, 16u, 17u, 1000u, 4097u})
      EXPECT_EQ(some.parallel_reduce_in_order(3, 3 + count, multiplies{}, matrix::of),
                product(3, 3 + count))
          << ranks << ' ' << count;
  }
}

// Texts of eight characters: the last eight of a concatenation.
struct tail {
  std::array<char, 8> last{};
  friend tail operator+(const tail& a, const tail& b) {
    tail both;
    const std::string all = a.text() + b.text();
    const std::string kept = all.size() > 8 ? all.substr(all.size() - 8) : all;
    std::copy(kept.begin(), kept.end(), both.last.begin());
    return both;
  }
  std::string text() const { return {last.begin(), std::find(last.begin(), last.end(), '\0')}; }
};

// Lanes would mix the characters.
TEST(ReducedInOrder, SmallValuesHaveNoLanes) {
  team two(team_options{.threads = 2});
  const tail end = two.parallel_reduce_in_order(
      0, 200, plus{}, [](std::size_t i) { return tail{{static_cast<char>('a' + i % 26)}}; });
  std::string expected;
  for (std::size_t i = 192; i < 200; ++i) expected += static_cast<char>('a' + i % 26);
  EXPECT_EQ(end.text(), expected);
}

}  // namespace
}  // namespace tutti
