// SPDX-License-Identifier: Apache-2.0
// Every algorithm, wait policy and number of threads gives the same bits, run after run, for values
// that are hard to combine. They are compared with the tournament of the ranks, computed here by
// one thread.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/data_check.hpp"
#include "tests/support/reductions.hpp"
#include "tutti/reduce/after_barrier.hpp"
#include "tutti/reduce/exact.hpp"
#include "tutti/reduce/reduction.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/team.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::rank_t;
using pair = std::array<double, 2>;

// The environment variable TUTTI_TEST_RUNS sets the number of runs, for the long test.
const unsigned runs = [] {
  const char* const wanted = std::getenv("TUTTI_TEST_RUNS");
  return wanted == nullptr ? 60u : static_cast<unsigned>(std::stoul(wanted));
}();
constexpr rank_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17};
// The number of different sets of values, which are used in turn.
constexpr unsigned inputs = 16;

// The values have cancellation, infinities of both signs, NaNs with a payload, denormals, and zeros
// of both signs.
double value_of(rank_t rank, unsigned run) {
  std::minstd_rand random(1 + rank * 977 + run % inputs * 31);
  random.discard(5);
  const double part = static_cast<double>(random()) / 3e9;
  switch (run % 8 == 7 ? random() % 12 : random() % 7) {
    case 0: return rank % 2 == 0 ? 1e16 + part : -1e16;
    case 1: return part * 5e-324 * 1e3;
    case 2: return -0.0;
    case 3: return part * std::numeric_limits<double>::max() / 20;
    case 7: return std::numeric_limits<double>::infinity();
    case 8: return -std::numeric_limits<double>::infinity();
    case 9: return std::bit_cast<double>(std::uint64_t{0xfff8000000000123});
    default: return (rank % 3 == 0 ? 1 : -1) * part;
  }
}
pair values_of(rank_t rank, unsigned run) {
  return {value_of(rank, run), value_of(rank + 100, run)};
}

// Pairs the ranks like schedule::tournament, without the library's fold.
template <class T, class Op>
T tournament(rank_t n, Op op, unsigned run, T (*value)(rank_t, unsigned)) {
  std::vector<T> held;
  for (rank_t rank = 0; rank < n; ++rank) held.push_back(value(rank, run));
  for (rank_t hop = 1; hop < n; hop *= 2)
    for (rank_t rank = 0; rank + hop < n; rank += 2 * hop)
      held[rank] = op(held[rank], held[rank + hop]);
  return tutti::canonical(held[0]);
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

struct expectations {
  explicit expectations(rank_t n) {
    for (unsigned run = 0; run < inputs; ++run) {
      sum.push_back(tournament<pair>(n, tutti::plus{}, run, values_of));
      least.push_back(tournament<double>(n, tutti::minimum{}, run, value_of));
    }
  }
  std::vector<pair> sum;
  std::vector<double> least;
};

// n threads call reduce(rank, run), which returns the sum, `runs` times with random delays.
template <class Reduce>
void expect_same_bits(rank_t n, unsigned times, Reduce reduce, const std::string& what) {
  const expectations expected(n);
  std::atomic<unsigned> wrong{0};
  tutti::test::watched_threads(100s).run(
      n,
      [&](rank_t rank) {
        tutti::test::delay pause(rank);
        for (unsigned run = 0; run < times; ++run) {
          if (run % 4 == 0) pause();
          const pair sum = reduce(rank, run);
          wrong += !same_bits(sum, expected.sum[run % inputs]);
        }
      },
      [&] { return what; });
  EXPECT_EQ(wrong, 0u) << what << ", n = " << n;
}

TEST(Bits, AreTheSameByEveryAlgorithm) {
  for (const rank_t n : sizes) {
    std::vector<std::string_view> names = tutti::test::reduction_names(n);
    // Tutti's choice.
    names.emplace_back();
    // A barrier.
    names.emplace_back("dissemination");
    for (const std::string_view name : names) {
      tutti::reduction<pair> sum(n, {}, name);
      expect_same_bits(
          n, runs, [&](rank_t rank, unsigned run) { return sum.all(rank, values_of(rank, run)); },
          std::string(name));
    }
  }
}

template <class Wait>
void expect_same_bits_waiting_by(const char* wait) {
  for (const rank_t n : {2u, 3u, 9u})
    for (const std::string_view algorithm : tutti::test::reduction_names(n)) {
      tutti::reduction<pair, tutti::plus, tutti::native, Wait> sum(n, {}, algorithm);
      expect_same_bits(
          n, runs / 4,
          [&](rank_t rank, unsigned run) { return sum.all(rank, values_of(rank, run)); }, wait);
    }
}

TEST(Bits, AreTheSameByEveryWayToWait) {
  expect_same_bits_waiting_by<tutti::yield_wait<>>("yield");
  expect_same_bits_waiting_by<tutti::park_wait<>>("park");
  expect_same_bits_waiting_by<tutti::adaptive_wait<>>("adaptive");
}

TEST(Bits, AreTheSameAfterEveryBarrier) {
  for (const auto& algorithm : tutti::algorithms)
    for (const rank_t n : {1u, 2u, 3u, 5u, 9u}) {
      const auto barrier = tutti::make_barrier(algorithm.name, n);
      tutti::after_barrier_reduction<pair, tutti::any_barrier> sum(*barrier, n);
      expect_same_bits(
          n, runs / 3,
          [&](rank_t rank, unsigned run) {
            pair result{};
            const tutti::deadline never(tutti::platform::forever_ns);
            EXPECT_TRUE(sum.all(rank, values_of(rank, run), tutti::plus{}, result, never));
            return tutti::canonical(result);
          },
          std::string(algorithm.name));
    }
}

// Tests teams: member::reduce and run_reduce, by threads and by virtual ranks, by tutti's own way
// and by each barrier.
void expect_same_bits_in(const tutti::team_options& o, unsigned times) {
  tutti::team t(o);
  const expectations expected(t.size());
  std::atomic<unsigned> wrong{0};
  t.run([&](tutti::member& me) {
    tutti::test::delay pause(me.rank());
    for (unsigned run = 0; run < times; ++run) {
      if (run % 4 == 0 && o.ranks == 0) pause();
      const pair sum = me.reduce(tutti::plus{}, values_of(me.rank(), run));
      const double least = me.reduce(tutti::minimum{}, value_of(me.rank(), run));
      wrong += !same_bits(sum, expected.sum[run % inputs]);
      wrong += !same_bits(least, expected.least[run % inputs]);
    }
  });
  for (unsigned run = 0; run < times; ++run) {
    const pair sum =
        t.run_reduce(tutti::plus{}, [=](tutti::member& me) { return values_of(me.rank(), run); });
    wrong += !same_bits(sum, expected.sum[run % inputs]);
  }
  EXPECT_EQ(wrong, 0u) << o.barrier << ", " << o.threads << " threads, " << t.size() << " ranks";
}

TEST(Bits, AreTheSameInTeams) {
  for (const rank_t n : sizes)
    for (const rank_t threads : {1u, 2u, n}) {
      if (threads > n) continue;
      expect_same_bits_in({.threads = threads, .ranks = threads == n ? 0 : n}, runs / 2);
    }
}

TEST(Bits, AreTheSameInTeamsWithEveryBarrier) {
  for (const auto& algorithm : tutti::algorithms)
    for (const auto wait : {"adaptive", "park", "yield"}) {
      expect_same_bits_in({.threads = 3, .barrier = algorithm.name, .wait = wait}, runs / 6);
      expect_same_bits_in({.threads = 2, .ranks = 5, .barrier = algorithm.name, .wait = wait},
                          runs / 6);
    }
}

// The operation is not commutative, so two ranks must agree on which is which.
struct joined {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a * 1000003 + b; }
};

TEST(Reductions, KeepTheOrderOfAnyOperation) {
  for (const rank_t n : sizes) {
    const auto expected = tournament<std::uint64_t>(
        n, joined{}, 0, [](rank_t rank, unsigned) { return std::uint64_t{rank} + 1; });
    tutti::reduction<std::uint64_t, joined> by_threads(n);
    tutti::test::watched_threads(100s).run(
        n, [&](rank_t rank) { EXPECT_EQ(by_threads.all(rank, rank + 1), expected); },
        [] { return "joined"; });
    for (const rank_t threads : {1u, 2u, n}) {
      if (threads > n) continue;
      tutti::team t({.threads = threads, .ranks = n});
      t.run([&](tutti::member& me) {
        EXPECT_EQ(me.reduce(joined{}, std::uint64_t{me.rank()} + 1), expected);
      });
      EXPECT_EQ(
          t.run_reduce(joined{}, [](tutti::member& me) { return std::uint64_t{me.rank()} + 1; }),
          expected);
    }
  }
}

TEST(Reductions, OfSpansAndScans) {
  for (const rank_t n : sizes)
    for (const rank_t threads : {1u, 2u, n}) {
      if (threads > n) continue;
      tutti::team t({.threads = threads, .ranks = n});
      std::atomic<unsigned> wrong{0};
      t.run([&](tutti::member& me) {
        // Up to 32 elements travel another way.
        for (const std::size_t length : {0u, 1u, 8u, 32u, 33u, 1000u}) {
          std::vector<double> values(length);
          for (std::size_t i = 0; i < length; ++i)
            values[i] = value_of(me.rank(), static_cast<unsigned>(i));
          me.reduce(tutti::plus{}, std::span(values));
          for (unsigned i = 0; i < length; ++i)
            wrong += !same_bits(values[i], tournament<double>(n, tutti::plus{}, i, value_of));
        }
        for (unsigned run = 0; run < inputs; ++run) {
          const double mine = value_of(me.rank(), run);
          const double before = me.exclusive_scan(tutti::plus{}, mine, -7.0);
          const double with_me = me.inclusive_scan(tutti::plus{}, mine);
          wrong +=
              !same_bits(with_me, tournament<double>(me.rank() + 1, tutti::plus{}, run, value_of));
          wrong += !same_bits(
              before,
              me.rank() == 0 ? -7.0 : tournament<double>(me.rank(), tutti::plus{}, run, value_of));
        }
      });
      EXPECT_EQ(wrong, 0u) << "n = " << n << ", threads = " << threads;
    }
}

TEST(Reductions, OfExactSumsDoNotDependOnTheNumberOfRanks) {
  constexpr std::size_t count = 4000;
  const auto value = [](std::size_t i) { return value_of(static_cast<rank_t>(i), 3); };
  tutti::exact_sum<double> expected;
  for (std::size_t i = 0; i < count; ++i) expected.add(value(i));
  for (const rank_t n : sizes) {
    tutti::reduction<tutti::exact_sum<double>> sum(n);
    tutti::test::watched_threads(100s).run(
        n,
        [&](rank_t rank) {
          tutti::exact_sum<double> mine;
          for (std::size_t i = rank; i < count; i += n) mine.add(value(i));
          EXPECT_TRUE(same_bits(sum.all(rank, mine).value(), expected.value())) << "n = " << n;
        },
        [] { return "exact sums"; });
  }
}

// ---- misuse, and deadlines

TEST(Reductions, RefuseWhatCannotBe) {
  EXPECT_THROW(tutti::reduction<double>(0), std::invalid_argument);
  for (const rank_t n : {1u, 3u})
    EXPECT_THROW(tutti::reduction<double>(n, {}, tutti::reduction_algorithm::pair),
                 std::invalid_argument);
  EXPECT_THROW(tutti::reduction<double>(2, {}, "sideways"), std::invalid_argument);
}

TEST(Reductions, GiveUpAtTheDeadlineAndSayWhoIsMissing) {
  for (const std::string_view algorithm : tutti::test::reduction_names(3)) {
    tutti::reduction<double> sum(3, {}, algorithm);
    tutti::test::watched_threads(100s).run(
        3, [&](rank_t rank) { EXPECT_EQ(sum.all_for(rank, 2.0, 60s), 6.0); },
        [] { return "a deadline"; });
    EXPECT_EQ(sum.all_for(1, 2.0, 5ms), std::nullopt);
    EXPECT_EQ(sum.missing_ranks(1), (std::vector<rank_t>{0, 2}));
  }
}

}  // namespace
