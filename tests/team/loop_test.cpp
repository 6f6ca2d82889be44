// SPDX-License-Identifier: Apache-2.0
// Tests loops: every schedule calls each index exactly once, and reducing loops combine in the
// order that they promise.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/team/teams.hpp"
#include "tutti/reduce/exact.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::loop;
using tutti::loop_options;
using tutti::rank_t;
using tutti::team;
using tutti::test::shape;

constexpr loop kinds[] = {loop::static_blocks, loop::static_chunks, loop::dynamic_chunks,
                          loop::guided_chunks, loop::adaptive};

// 1 to 9 ranks on 1 to 8 threads, also with more threads than cores, and many virtual ranks.
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
          // Plain, so that two ranks that take the same index are a race, too.
          std::vector<unsigned> calls(count);
          t.parallel_for(first, first + count, [&](std::size_t i) { ++calls.at(i - first); },
                         {.kind = kind, .chunk = chunk});
          ASSERT_EQ(calls, std::vector<unsigned>(count, 1u))
              << "kind " << static_cast<int>(kind) << ", chunk " << chunk << ", count " << count;
        }
}

// The last chunk may end beyond the largest number.
TEST(LongLoop, IsWholeUpToTheLargestNumber) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  team t(2);
  for (const loop kind : kinds)
    for (const std::size_t chunk : {most / 4 + 1, most / 3 * 2, most - 1, most})
      for (const std::size_t count : {most / 2 + 1, most - 3, most}) {
        std::atomic<std::size_t> covered{0};
        std::atomic<bool> is_within{true};
        t.parallel_parts(0, count,
                         [&](const tutti::member&, std::size_t from, std::size_t to) {
                           if (from >= to || to > count) is_within = false;
                           covered += to - from;
                         },
                         {.kind = kind, .chunk = chunk});
        ASSERT_TRUE(is_within && covered == count)
            << "kind " << static_cast<int>(kind) << ", chunk " << chunk << ", count " << count
            << ", covered " << covered;
      }
}

// Long enough for all workers to be called in.
void work_for(std::chrono::nanoseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

TEST_P(Loop, SharesWhatLastsAndStillCallsEachIndexOnce) {
  team t(GetParam().options());
  for (const loop kind : kinds)
    for (const std::size_t chunk : {std::size_t{0}, std::size_t{3}})
      for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{40}}) {
        std::vector<unsigned> calls(count), parts(count);
        const loop_options how{.kind = kind, .chunk = chunk};
        t.parallel_for(
            0, count,
            [&](std::size_t i) {
              work_for(std::chrono::microseconds(i * 2));
              ++calls.at(i);
            },
            how);
        ASSERT_EQ(calls, std::vector<unsigned>(count, 1u)) << "kind " << static_cast<int>(kind);
        t.parallel_parts(
            0, count,
            [&](tutti::member& me, std::size_t from, std::size_t to) {
              EXPECT_LT(me.thread(), t.threads());
              for (std::size_t i = from; i < to; ++i) {
                work_for(5us);
                ++parts.at(i);
              }
              // No other rank is here.
              me.barrier();
            },
            how);
        ASSERT_EQ(parts, std::vector<unsigned>(count, 1u)) << "kind " << static_cast<int>(kind);
      }
}

// Chunks so cheap that several are taken at a time: the first loop learns what they cost.
TEST_P(Loop, CallsEachIndexOfCheapChunksOnce) {
  team t(GetParam().options());
  for (const loop kind : {loop::static_chunks, loop::dynamic_chunks})
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}}) {
      std::vector<unsigned> calls(20'011);
      constexpr unsigned loops = 5;
      for (unsigned i = 0; i < loops; ++i)
        t.parallel_for(0, calls.size(), [&](std::size_t at) { ++calls[at]; },
                       {.kind = kind, .chunk = chunk});
      ASSERT_EQ(calls, std::vector<unsigned>(calls.size(), loops)) << "chunk " << chunk;
    }
}

// On a machine that is busy with other work the worker may come too late, but not every time.
template <class Run>
bool is_helped(Run run) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    // By now the worker is asleep.
    std::this_thread::sleep_for(5ms);
    if (run()) return true;
  }
  return false;
}

TEST(Loops, WakeWhoSleepsWhenTheyLast) {
  team t(2);
  for (const loop kind : kinds)
    EXPECT_TRUE(is_helped([&] {
      std::vector<std::thread::id> who(100);
      t.parallel_for(0, who.size(),
                     [&](std::size_t i) {
                       work_for(100us);
                       who[i] = std::this_thread::get_id();
                     },
                     {.kind = kind});
      return std::count(who.begin(), who.end(), who[0]) != 100;
    })) << "kind "
        << static_cast<int>(kind);
}

// Each loop is too short to wake a worker for it, but there are many.
TEST(Loops, WakeWhoSleepsWhenTheyFollowOneAnother) {
  team t(2);
  EXPECT_TRUE(is_helped([&] {
    std::atomic<unsigned> helped{0};
    const auto caller = std::this_thread::get_id();
    for (int i = 0; i < 1000 && helped == 0; ++i)
      t.parallel_for(0, 100, [&](std::size_t) {
        work_for(100ns);
        if (std::this_thread::get_id() != caller) ++helped;
      });
    return helped > 0;
  }));
}

// The loop does not wake a worker if it is over before one could come.
TEST(Loops, LeaveWhoSleepsAloneWhenTheyAreShort) {
  team t(2);
  const auto caller = std::this_thread::get_id();
  // Others may take the caller's processor in the middle of a loop, which then is not short.
  unsigned least = ~0u;
  for (int attempt = 0; attempt < 10 && least > 100; ++attempt) {
    unsigned helped = 0;
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(10ms);
      t.parallel_for(0, 100, [&](std::size_t) {
        work_for(20ns);
        if (std::this_thread::get_id() != caller) ++helped;
      });
    }
    least = std::min(least, helped);
  }
  EXPECT_LE(least, 100u) << "after 10 ms the worker should be asleep";
}

// A worker that is held up inside a part delays the loop only by that part: all other parts are
// done meanwhile.
TEST(Loops, LeaveOnlyBegunPartsToALateWorker) {
  team t(2);
  for (const loop kind : {loop::adaptive, loop::dynamic_chunks, loop::guided_chunks}) {
    constexpr std::size_t count = 4096;
    std::atomic<std::size_t> done{0};
    std::atomic<bool> is_held{false};
    std::size_t left_behind = 0;
    const auto caller = std::this_thread::get_id();
    t.parallel_for(0, count,
                   [&](std::size_t) {
                     if (std::this_thread::get_id() != caller && !is_held.exchange(true)) {
                       // Waits until all others have done all that can be done, so that the count
                       // no longer changes, though others may have the processor for a while.
                       std::size_t before = count;
                       for (int same = 0; same < 10; ++same) {
                         if (before != done) same = 0;
                         before = done;
                         std::this_thread::sleep_for(20ms);
                       }
                       left_behind = count - done;
                     }
                     work_for(1us);
                     ++done;
                   },
                   {.kind = kind});
    EXPECT_EQ(done, count);
    if (is_held) {
      EXPECT_LE(left_behind, count / 4) << "kind " << static_cast<int>(kind);
    }
  }
}

// The caller shares the loop in the middle of the last chunk, which is shorter than the others.
TEST(Loops, CallEachIndexOnceIfTheyAreSharedInTheirLastChunk) {
  tutti::team workers(tutti::team_options{.threads = 2});
  const auto work_for = [](std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  for (int repeat = 0; repeat < 10; ++repeat) {
    workers.run([](tutti::member&) {});
    // The worker falls asleep, so that the caller begins alone.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::array<std::atomic<int>, 5> calls{};
    workers.parallel_for(0, calls.size(),
                         [&](std::size_t i) {
                           work_for(std::chrono::microseconds(i == 3 ? 300 : 20));
                           ++calls[i];
                         },
                         {.kind = loop::static_chunks, .chunk = 3});
    for (const auto& each : calls) ASSERT_EQ(each, 1);
  }
}

// Consecutive loops of every length, from stacks that end: a late worker must touch nothing.
TEST(Loops, MayBeEndedWhileWorkersAreOnTheirWay) {
  for (const rank_t threads : {2u, 4u, 20u}) {
    team t(threads);
    for (unsigned round = 0; round < 3000; ++round) {
      std::vector<unsigned> calls(1 + round % 97);
      t.parallel_for(0, calls.size(),
                     [&](std::size_t i) {
                       if (round % 8 == 0) work_for(200ns);
                       ++calls[i];
                     },
                     {.kind = kinds[round % 5], .chunk = round % 3});
      ASSERT_EQ(calls, std::vector<unsigned>(calls.size(), 1u));
      if (round % 50 == 0) t.run([](tutti::member& me) { me.barrier(); });
      if (round % 300 == 0) std::this_thread::sleep_for(3ms);
    }
    tutti::test::expect_works(t);
  }
}

TEST(Loops, ThrowWhatTheLowestOfThoseThatWereBegunThrew) {
  team t(2);
  for (const loop kind : kinds)
    for (int round = 0; round < 20; ++round) {
      std::atomic<std::size_t> lowest{1000};
      try {
        t.parallel_for(0, 1000,
                       [&](std::size_t i) {
                         work_for(1us);
                         if (i % 10 != 7) return;
                         std::size_t seen = lowest;
                         while (i < seen && !lowest.compare_exchange_weak(seen, i)) {
                         }
                         throw i;
                       },
                       {.kind = kind});
        FAIL();
      } catch (const std::size_t i) {
        EXPECT_EQ(i, lowest);
      }
    }
  tutti::test::expect_works(t);
}

// Inside a loop, a region or a loop of the same team runs on the calling thread.
TEST(Loops, InsideLoopsRunAlone) {
  team t(2);
  std::atomic<unsigned> calls{0};
  t.parallel_for(0, 50, [&](std::size_t) {
    work_for(10us);
    t.run([&](tutti::member& me) {
      EXPECT_EQ(me.size(), 1u);
      ++calls;
    });
    const auto me = std::this_thread::get_id();
    t.parallel_for(0, 3, [&](std::size_t) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      ++calls;
    });
  });
  EXPECT_EQ(calls, 200u);
  tutti::test::expect_works(t);
}

TEST(Loops, AreRefusedWhileARegionOfThisThreadIsLate) {
  team t(2);
  std::atomic<bool> may_go{false};
  EXPECT_FALSE(t.run_for(5ms, [&](tutti::member& me) {
    while (me.rank() == 1 && !may_go) std::this_thread::sleep_for(1ms);
  }));
  tutti::test::expect_refused<std::logic_error>([&] { t.parallel_for(0, 3, [](std::size_t) {}); },
                                                "has not ended yet (missing: rank 1)");
  // Another thread is not affected.
  std::thread([&] {
    std::size_t sum = 0;
    t.parallel_for(0, 4, [&](std::size_t i) { sum += i; });
    EXPECT_EQ(sum, 6u);
  }).join();
  may_go = true;
  EXPECT_TRUE(t.wait_for(60s));
  tutti::test::expect_works(t);
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
  for (const std::size_t count : {0u, 1u, 5u, 64u, 1000u}) {
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
  for (const std::size_t count : {1u, 2u, 15u, 16u, 17u, 24u, 100u, 1003u}) {
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

// The bits are the same if the loop lasts, if a thread is late, and if the caller runs it alone.
TEST_P(Loop, ReducesToTheSameBitsWhoeverRunsTheBlocks) {
  team t(GetParam().options());
  constexpr std::size_t count = 300;
  const auto slowly = [](std::size_t i) {
    work_for(200ns);
    return value_of(i);
  };
  const auto quick = bytes_of(t.parallel_reduce(0, count, tutti::plus{}, value_of));
  const auto quick_any = bytes_of(t.parallel_reduce_any(0, count, tutti::plus{}, value_of));
  for (int again = 0; again < 3; ++again) {
    ASSERT_EQ(bytes_of(t.parallel_reduce(0, count, tutti::plus{}, slowly)), quick);
    ASSERT_EQ(bytes_of(t.parallel_reduce_any(0, count, tutti::plus{}, slowly)), quick_any);
  }
  t.run([&](tutti::member& me) {
    if (me.rank() == 0) {
      EXPECT_EQ(bytes_of(t.parallel_reduce(0, count, tutti::plus{}, value_of)), quick);
    }
  });
}

TEST_P(Loop, ReducesToTheSameBitsOnAnyNumberOfRanks) {
  team t(GetParam().options());
  for (const std::size_t count : {1u, 7u, 127u, 128u, 129u, 1000u, 5003u}) {
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
  for (const std::size_t count : {1u, 2u, 5u, 100u}) {
    EXPECT_EQ(t.parallel_reduce(3, 3 + count, least, square), 9u);
    EXPECT_EQ(t.parallel_reduce_any(3, 3 + count, least, square), 9u);
  }
  EXPECT_EQ(t.parallel_reduce(3, 3, least, square), 0u);
  EXPECT_EQ(t.parallel_reduce_any(3, 3, least, square), 0u);
}

// A NaN result is the one quiet NaN whatever made it, with or without an identity.
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
