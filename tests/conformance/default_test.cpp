// SPDX-License-Identifier: Apache-2.0
// Tests what tutti::barrier has beyond std::barrier: ranks, deadlines that say who is missing,
// algorithms by name.

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/data_check.hpp"
#include "tutti/barrier/barrier.hpp"
#include "tutti/registry.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::barrier;
using tutti::barrier_options;
using tutti::rank_t;
using tutti::timed_result;
using tutti::test::hold;
using ranks = std::vector<rank_t>;

// Ticket barriers and striped ones, with one leaf and with several leaves.
struct shape {
  rank_t few, fan;
};
constexpr shape shapes[] = {{64, 8}, {0, 64}, {0, 2}, {0, 1}, {5, 8}};

barrier_options options_of(const shape& s) { return {.few = s.few, .fan = s.fan}; }

TEST(Shape, EveryOneMeetsWithAndWithoutRanks) {
  // At most as many participants as CPUs: with more, the default draws tickets whatever the options
  // say.
  for (const shape& s : shapes)
    for (const rank_t n : {1u, 2u, 3u, 6u}) {
      barrier ranked(n, options_of(s));
      EXPECT_EQ(hold({.participants = n, .time = 40ms, .traced = true},
                     [&](rank_t rank) { ranked.arrive_and_wait(rank); }),
                "");
      barrier rankless(n, options_of(s));
      EXPECT_EQ(hold({.participants = n, .time = 40ms, .traced = true},
                     [&](rank_t) { rankless.arrive_and_wait(); }),
                "");
    }
}

// A completion function makes the default use striped counters for every n.
TEST(Shape, StripedOnesMeetWhenOversubscribed) {
  for (const rank_t n : {3u, 8u, 17u, 64u}) {
    int completed = 0;
    std::uint64_t met = 0;
    barrier sync(n, [&completed]() noexcept { ++completed; }, {.few = 0, .fan = 4});
    EXPECT_EQ(hold({.participants = n, .time = 40ms, .random_delays = true, .traced = true},
                   [&](rank_t rank) {
                     if (rank == 0) ++met;
                     sync.arrive_and_wait(rank);
                   }),
              "");
    EXPECT_EQ(static_cast<std::uint64_t>(completed), met);
  }
}

TEST(Rank, SplitArrivalsAndDrops) {
  for (const shape& s : shapes) {
    constexpr rank_t n = 4;
    barrier sync(n, options_of(s));
    tutti::test::watched_threads(100s).run(
        n,
        [&](rank_t rank) {
          for (int phase = 0; phase < 20; ++phase) {
            auto token = sync.arrive_as(rank);
            EXPECT_EQ(token.phase(), static_cast<std::uint64_t>(phase));
            sync.wait(std::move(token));
          }
          if (rank % 2 == 1) return sync.arrive_and_drop_as(rank);
          for (int phase = 0; phase < 20; ++phase) sync.arrive_and_wait(rank);
        },
        [] { return std::string("ranks that drop"); });
  }
}

TEST(Deadline, InTimeIsTrue) {
  for (const shape& s : shapes) {
    barrier sync(2, options_of(s));
    std::thread other([&] { EXPECT_TRUE(sync.arrive_and_wait_for(1, 60s)); });
    const timed_result told = sync.arrive_and_wait_for(0, 60s);
    other.join();
    EXPECT_TRUE(told);
    EXPECT_EQ(told.phase, 0u);
    EXPECT_EQ(told.missing, 0u);
    EXPECT_TRUE(told.missing_ranks.empty());
  }
}

TEST(Deadline, SaysWhoIsMissing) {
  for (const shape& s : shapes) {
    barrier sync(4, options_of(s));
    auto two = sync.arrive_as(2);
    const timed_result told = sync.arrive_and_wait_for(0, 1ms);
    EXPECT_FALSE(told);
    EXPECT_EQ(told.missing, 2u);
    EXPECT_EQ(told.missing_ranks, (ranks{1, 3}));
    // The arrivals stand: the late participants complete the phase, and rank 0 resumes.
    (void)sync.arrive_as(1);
    (void)sync.arrive_as(3);
    EXPECT_TRUE(sync.wait_for(told.phase, 60s));
    sync.wait(std::move(two));
  }
}

TEST(Deadline, SaysHowManyAreMissingWithoutRanks) {
  for (const shape& s : shapes) {
    barrier sync(3, options_of(s));
    const timed_result told = sync.arrive_and_wait_for(1ms);
    EXPECT_FALSE(told);
    EXPECT_EQ(told.missing, 2u);
    EXPECT_TRUE(told.missing_ranks.empty()) << "nobody has come by rank";
    const timed_result again = sync.wait_for(told.phase, 1ms);
    EXPECT_FALSE(again);
    EXPECT_EQ(again.missing, 2u);
    (void)sync.arrive(2);
    EXPECT_TRUE(sync.wait_until(told.phase, std::chrono::steady_clock::now() + 60s));
  }
}

TEST(Deadline, ResumesLaterThanMissedPhases) {
  for (const shape& s : shapes) {
    barrier sync(2, options_of(s));
    for (std::uint64_t phase = 0; phase < 5; ++phase) {
      const timed_result told = sync.arrive_and_wait_for(0, 0s);
      EXPECT_FALSE(told);
      EXPECT_EQ(told.phase, phase);
      EXPECT_EQ(told.missing_ranks, ranks{1});
      EXPECT_TRUE(sync.arrive_and_wait_for(1, 60s));
      EXPECT_TRUE(sync.wait_for(phase, 0s)) << "over: in time whatever the deadline";
    }
  }
}

TEST(Deadline, ADroppedRankIsNotMissing) {
  for (const shape& s : shapes) {
    barrier sync(3, options_of(s));
    (void)sync.arrive_as(0);
    (void)sync.arrive_as(1);
    sync.arrive_and_drop_as(2);
    const timed_result told = sync.arrive_and_wait_for(0, 1ms);
    EXPECT_FALSE(told);
    EXPECT_EQ(told.phase, 1u);
    EXPECT_EQ(told.missing, 1u);
    EXPECT_EQ(told.missing_ranks, ranks{1});
    EXPECT_TRUE(sync.arrive_and_wait_for(1, 60s));
  }
}

TEST(Deadline, TakesAnyClockAndDuration) {
  barrier sync(2);
  EXPECT_FALSE(sync.arrive_and_wait_until(0, std::chrono::system_clock::now() + 1ms));
  EXPECT_FALSE(sync.wait_for(0, -5s)) << "the past";
  EXPECT_FALSE(sync.wait_for(0, std::chrono::duration<double>(1e-4)));
  EXPECT_FALSE(sync.wait_until(0, std::chrono::steady_clock::now() - 1h));
  EXPECT_TRUE(sync.arrive_and_wait_for(1, 1min));
}

// "For ever", as programs write it, must not overflow into the past.
TEST(Deadline, TakesTheLongestDurations) {
  barrier sync(2);
  std::thread other([&] {
    std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(sync.arrive_and_wait_for(1, std::chrono::nanoseconds::max()));
    std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(sync.arrive_and_wait_until(1, std::chrono::steady_clock::time_point::max()));
    std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(sync.arrive_and_wait_for(1, 60s));
  });
  EXPECT_TRUE(sync.arrive_and_wait_for(0, std::chrono::hours::max()));
  EXPECT_TRUE(sync.arrive_and_wait_for(0, std::chrono::seconds::max()));
  EXPECT_TRUE(sync.arrive_and_wait_for(0, std::chrono::duration<double>(1e300)));
  other.join();
  EXPECT_FALSE(sync.arrive_and_wait_for(0, std::chrono::hours::min()));
  EXPECT_FALSE(sync.wait_until(3, std::chrono::steady_clock::time_point::min()));
}

// The clock's unit cannot hold the time between now and these instants.
TEST(Deadline, TakesTheEarliestAndTheLatestInstantOfAnyClock) {
  using clock = std::chrono::system_clock;
  using in_hours = std::chrono::time_point<clock, std::chrono::hours>;
  barrier sync(2);
  EXPECT_FALSE(sync.arrive_and_wait_until(0, clock::time_point::min()));
  EXPECT_FALSE(sync.wait_until(0, in_hours::min()));
  std::thread other([&] {
    std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(sync.arrive_and_wait_until(1, clock::time_point::max()));
    std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(sync.arrive_and_wait_until(1, clock::time_point::max()));
  });
  EXPECT_TRUE(sync.wait_until(0, in_hours::max()));
  EXPECT_TRUE(sync.arrive_and_wait_until(0, in_hours::max()));
  other.join();
}

class Named : public testing::TestWithParam<tutti::algorithm_info> {};
INSTANTIATE_TEST_SUITE_P(Registry, Named, testing::ValuesIn(tutti::algorithms),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Named, MeetsWithAndWithoutRanks) {
  for (const rank_t n : {1u, 2u, 3u, 8u}) {
    barrier ranked(n, barrier_options{.algorithm = GetParam().name});
    EXPECT_EQ(hold({.participants = n, .time = 20ms, .traced = true},
                   [&](rank_t rank) { ranked.arrive_and_wait(rank); }),
              "");
    barrier rankless(n, barrier_options{.algorithm = GetParam().name, .wait = "park"});
    EXPECT_EQ(hold({.participants = n, .time = 20ms, .traced = true},
                   [&](rank_t) { rankless.arrive_and_wait(); }),
              "");
  }
}

TEST_P(Named, SaysWhoIsMissing) {
  barrier sync(3, barrier_options{.algorithm = GetParam().name});
  std::thread one([&] { EXPECT_TRUE(sync.arrive_and_wait_for(1, 60s)); });
  std::thread two([&] { EXPECT_TRUE(sync.arrive_and_wait_for(2, 60s)); });
  EXPECT_TRUE(sync.arrive_and_wait_for(0, 60s));
  one.join();
  two.join();
  const timed_result told = sync.arrive_and_wait_for(1, 2ms);
  EXPECT_FALSE(told);
  EXPECT_EQ(told.phase, 1u);
  EXPECT_EQ(told.missing, 2u);
  EXPECT_EQ(told.missing_ranks, (ranks{0, 2}));
}

TEST_P(Named, HasOnlyArriveAndWait) {
  barrier sync(1, barrier_options{.algorithm = GetParam().name});
  EXPECT_THROW((void)sync.arrive(), std::invalid_argument);
  EXPECT_THROW((void)sync.arrive_as(0), std::invalid_argument);
  EXPECT_THROW(sync.arrive_and_drop(), std::invalid_argument);
  EXPECT_THROW(sync.arrive_and_drop_as(0), std::invalid_argument);
  EXPECT_THROW((void)sync.wait_for(0, 1ms), std::invalid_argument);
  EXPECT_THROW(barrier(
                   1, []() noexcept {}, barrier_options{.algorithm = GetParam().name}),
               std::invalid_argument);
}

// A thread keeps its rank on each of many barriers, however many it uses in turn.
TEST(NamedRanks, StayWithTheThreadOnManyBarriers) {
  std::vector<std::unique_ptr<barrier<>>> many;
  for (int i = 0; i < 40; ++i)
    many.push_back(std::make_unique<barrier<>>(2, barrier_options{.algorithm = "flags"}));
  const auto meet = [&](rank_t) {
    for (int turn = 0; turn < 3; ++turn)
      for (auto& each : many) ASSERT_NO_THROW(each->arrive_and_wait());
  };
  tutti::test::watched_threads(100s).run(2, meet,
                                         [] { return std::string("many named barriers"); });
}

TEST(NamedRanks, OneThreadTooManyIsRefused) {
  barrier sync(1, barrier_options{.algorithm = "mcs"});
  sync.arrive_and_wait();
  std::thread([&] {
    try {
      sync.arrive_and_wait();
      ADD_FAILURE() << "a second thread at a barrier for one";
    } catch (const std::invalid_argument& e) {
      EXPECT_NE(std::string(e.what()).find("'mcs' needs the same 1 threads"), std::string::npos)
          << e.what();
    }
  }).join();
  sync.arrive_and_wait();
}

}  // namespace
