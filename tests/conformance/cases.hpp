// SPDX-License-Identifier: Apache-2.0
// The cases of the conformance suite: one set of tests for every provider of a barrier. The file
// that includes it says which providers run them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/conformance/data_check.hpp"
#include "tests/conformance/providers.hpp"

namespace {

using namespace std::chrono_literals;
using tutti::rank_t;
using tutti::test::arrival;
using tutti::test::data_check;
using tutti::test::hold;
using tutti::test::hold_crowd;
using tutti::test::provider;

constexpr rank_t sizes[] = {1, 2, 3, 5, 8, 17, 64};

class Barrier : public testing::TestWithParam<provider> {
 protected:
  // An episode of spinners that share cores takes milliseconds to hundreds of them, so only the
  // cases that show most are run.
  static bool is_hopeless(rank_t n) { return GetParam().burns_the_core() && n > 8; }

  static void expect_to_pass(data_check plan) {
    const arrival arrive = GetParam().make(plan.participants);
    EXPECT_EQ(hold(plan, arrive), "") << GetParam().name() << ", n = " << plan.participants;
  }
};

TEST_P(Barrier, PublishesEverybodysData) {
  for (const rank_t n : sizes) {
#ifdef TUTTI_TEST_TSAN
    // 64 threads that spin under ThreadSanitizer were seen to make no progress for minutes; without
    // it they do.
    if (is_hopeless(n)) continue;
#endif
    data_check plan{.participants = n, .time = n < 8 ? 60ms : 30ms};
    expect_to_pass(plan);
  }
}

TEST_P(Barrier, LetsNobodyLeaveBeforeTheLastArrives) {
  for (const rank_t n : sizes) {
    if (is_hopeless(n)) continue;
    expect_to_pass({.participants = n, .time = 30ms, .random_delays = true, .traced = true});
  }
}

TEST_P(Barrier, WaitsForThoseWhoStartLate) {
  for (const rank_t n : sizes) {
    if (is_hopeless(n)) continue;
    expect_to_pass({.participants = n, .most_episodes = 5, .late_start = true, .traced = true});
  }
}

TEST_P(Barrier, WorksOnOneCore) {
  for (const rank_t n : {2u, 5u})
    expect_to_pass({.participants = n, .time = 30ms, .one_core = true});
}

// A barrier for one participant never waits; a barrier lives through many episodes.
TEST_P(Barrier, IsReusedManyTimes) {
  expect_to_pass({.participants = 1, .most_episodes = 70'000, .time = 100ms});
  expect_to_pass({.participants = 2, .most_episodes = 70'000, .time = 150ms});
}

// Any n threads complete an episode.
class Anonymous : public testing::TestWithParam<provider> {};

TEST_P(Anonymous, TakesThreadsThatAreNeverTheSame) {
  for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 17u}) {
    if (GetParam().burns_the_core() && n > 8) continue;
    const arrival arrive = GetParam().make(n);
    for (int episode = 0; episode < 5; ++episode)
      ASSERT_EQ(hold({.participants = n, .most_episodes = 1}, arrive), "") << "n = " << n;
  }
}

// There are more threads than the barrier is for: the threads that come first complete the episode.
class Crowd : public testing::TestWithParam<provider> {};

TEST_P(Crowd, AnyThreadsMakeAnEpisode) {
  const bool burns = GetParam().burns_the_core();
  for (const rank_t n : {1u, 2u, 3u, 5u, 8u, 17u}) {
    if (burns && n > 3) continue;
    for (const rank_t threads : {n, n + 1, 2 * n + 3})
      EXPECT_EQ(hold_crowd(n, threads, burns ? 5 : 50, GetParam().make(n)), "")
          << GetParam().name() << ", n = " << n << ", threads = " << threads;
  }
}

bool takes_crowds(const provider& p) {
  const auto* const info = tutti::detail::find_by_name(tutti::algorithms, p.algorithm);
  return info != nullptr ? info->takes_crowds : p.algorithm == tutti::default_rankless_algorithm;
}
// Barriers that live for one episode: made, used once by all, and destroyed by one of them, again
// and again.
class Destruction : public testing::TestWithParam<provider> {
 protected:
  // who(k) says whether the k-th thread to return destroys the barrier.
  template <class Who>
  void use_once_and_destroy(rank_t n, int barriers, Who who) {
    struct stage {
      std::atomic<tutti::any_barrier*> barrier{nullptr};
      std::atomic<rank_t> returned{0};
    };
    std::vector<stage> stages(static_cast<std::size_t>(barriers) + 1);
    const auto fresh = [&] { return GetParam().make_any(n).release(); };
    stages[0].barrier = fresh();
    const auto work = [&](rank_t rank) {
      for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
        tutti::any_barrier* barrier = nullptr;
        while ((barrier = stages[i].barrier.load()) == nullptr) std::this_thread::yield();
        barrier->arrive_and_wait(rank);
        if (!who(stages[i].returned.fetch_add(1) + 1)) continue;
        delete barrier;
        stages[i + 1].barrier = fresh();
      }
    };
    tutti::test::watched_threads(100s).run(
        n, work, [&] { return GetParam().name() + " made and destroyed"; });
    delete stages.back().barrier.load();
  }
};

TEST_P(Destruction, RightAfterTheLastReturn) {
  for (const rank_t n : {1u, 2u, 3u, 5u}) {
    const bool crawls = GetParam().burns_the_core() && n > 2;
    use_once_and_destroy(n, crawls ? 5 : 200, [n](rank_t k) { return k == n; });
  }
}

class PoolDestruction : public Destruction {};
TEST_P(PoolDestruction, ByWhoeverLeavesFirst) {
  for (const rank_t n : {1u, 2u, 3u, 5u}) {
    const bool crawls = GetParam().burns_the_core() && n > 2;
    use_once_and_destroy(n, crawls ? 5 : 200, [](rank_t k) { return k == 1; });
  }
}

// Many episodes in one call, and deadlines, as all algorithms offer them.
class Episodes : public testing::TestWithParam<provider> {};
TEST_P(Episodes, ManyInOneCall) {
  for (const rank_t n : {1u, 2u, 3u}) {
    const auto barrier = GetParam().make_any(n);
    EXPECT_EQ(barrier->participants(), n);
    std::atomic<rank_t> done{0};
    const std::uint64_t count = GetParam().burns_the_core() && n > 2 ? 5 : 300;
    tutti::test::watched_threads(100s).run(
        n,
        [&](rank_t rank) {
          barrier->episodes(rank, count);
          ++done;
        },
        [&] { return GetParam().name() + " in many episodes"; });
    EXPECT_EQ(done, n);
  }
}

TEST_P(Episodes, GiveUpAtTheDeadline) {
  constexpr rank_t n = 3;
  const auto barrier = GetParam().make_any(n);
  std::atomic<rank_t> in_time{0};
  const auto meet = [&](rank_t present, std::uint64_t ns) {
    in_time = 0;
    tutti::test::watched_threads(100s).run(
        present,
        [&](rank_t rank) {
          in_time += barrier->arrive_and_wait(rank, tutti::deadline(tutti::native::now_ns() + ns));
        },
        [&] { return GetParam().name() + " with a deadline"; });
  };
  meet(n, 60'000'000'000);
  EXPECT_EQ(in_time, n);
  meet(n - 1, 5'000'000);
  EXPECT_EQ(in_time, 0u);
}

}  // namespace
