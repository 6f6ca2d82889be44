// SPDX-License-Identifier: Apache-2.0
// Tests the options of a team, what it refuses and how, and that it leaves its caller unchanged.

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/team/cpu_time.hpp"
#include "tests/team/teams.hpp"
#include "tutti/team/region.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

void expect_bad(const team_options& o, const std::string& why) {
  expect_refused<std::invalid_argument>([&] { const team t(o); }, why);
}

TEST(Options, ThatCannotBeRightAreRefused) {
  expect_bad({.threads = 70'000}, "at most 65535 ranks, not 70000");
  expect_bad({.threads = 2, .ranks = 65'536}, "at most 65535 ranks, not 65536");
  expect_bad({.threads = 5, .ranks = 3}, "a team of 3 ranks cannot use 5 threads");
  expect_bad({.threads = 2, .ranks = 1}, "a team of 1 rank cannot use 2 threads");
  expect_bad({.threads = 2, .barrier = "flgas"}, "unknown barrier algorithm 'flgas'");
  expect_bad({.threads = 2, .barrier = "flags", .wait = "spni"}, "unknown wait policy 'spni'");
  expect_bad({.threads = 2, .wait = "spin"}, "wait policy 'spin' needs a named barrier");
  expect_bad({.threads = 2, .barrier = "default", .wait = "spin"}, "needs a named barrier");
  for (const auto& policy : wait_policies)
    if (!policy.available())
      expect_bad({.threads = 2, .barrier = "flags", .wait = policy.name}, "that this CPU lacks");
}

TEST(Options, AStackThatHoldsNothingIsRefused) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{4096}})
    expect_bad({.threads = 1, .ranks = 2, .fibers = {.stack_bytes = bytes}},
               "a stack of " + std::to_string(bytes) + " bytes");
}

TEST(Options, AStackThatNoMemoryHoldsIsAnError) {
  EXPECT_THROW(team({.threads = 2, .ranks = 3, .fibers = {.stack_bytes = std::size_t{1} << 60}}),
               std::bad_alloc);
}

TEST(Options, AreMadeUpForWhereTheyAreLeftOut) {
  const team usual;
  EXPECT_GE(usual.threads(), 1u);
  EXPECT_EQ(usual.size(), usual.threads());
  EXPECT_LE(usual.threads(), platform::machine().allowed.size());
  const team one({.ranks = 1});
  EXPECT_EQ(one.threads(), 1u);
  team many({.ranks = 50});
  EXPECT_EQ(many.size(), 50u);
  EXPECT_LE(many.threads(), 50u);
  expect_works(many);
}

TEST(Options, NamesNeedNotOutliveTheCall) {
  std::string barrier = "recursive_padded", wait = "park";
  team t({.threads = 3, .barrier = barrier, .wait = wait});
  barrier.assign(barrier.size(), 'x');
  wait.assign(wait.size(), 'x');
  // This remakes what the names chose.
  EXPECT_THROW(t.run([](member&) { throw 1; }), int);
  expect_works(t);
}

TEST(Options, TuttisOwnBarrierHasTwoNames) {
  for (const auto name : {default_algorithm, default_rankless_algorithm}) {
    team t({.threads = 3, .barrier = name});
    expect_works(t);
    EXPECT_TRUE(t.run_for(60s, [](member&) {})) << "it is no named barrier";
  }
}

TEST(Regions, ByNameRefuseWhatTheyDoNotKnow) {
  const auto refuse = [](const char* algorithm, rank_t n, const char* wait, const char* why) {
    expect_refused<std::invalid_argument>([&] { (void)make_region(algorithm, n, wait); }, why);
  };
  refuse("flgas", 2, "adaptive", "unknown barrier algorithm 'flgas'");
  refuse("flags", 0, "adaptive", "participants, not 0");
  refuse("flags", 2, "sipn", "unknown wait policy 'sipn'");
}

// ---- the caller's thread

cpu_set_t affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}
bool same(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }

TEST(Affinity, OfTheCallerIsRestored) {
  const cpu_set_t before = affinity();
  for (const auto place : {platform::placement::compact, platform::placement::spread}) {
    {
      team t({.threads = 2, .place = place});
      const cpu_set_t bound = affinity();
      EXPECT_EQ(CPU_COUNT(&bound), 1);
      t.run([](member&) {
        const cpu_set_t mine = affinity();
        EXPECT_EQ(CPU_COUNT(&mine), 1);
      });
    }
    EXPECT_TRUE(same(affinity(), before));
  }
}

TEST(Affinity, StaysAsItIsWithoutPlacementOrWorkers) {
  const cpu_set_t before = affinity();
  team none({.threads = 2, .place = platform::placement::none});
  EXPECT_TRUE(same(affinity(), before));
  none.run([&](member&) { EXPECT_TRUE(same(affinity(), before)); });
  const team alone(1);
  EXPECT_TRUE(same(affinity(), before));
}

TEST(Affinity, ChosenByTheUserMeanwhileIsKept) {
  const cpu_set_t before = affinity();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU only";
  {
    const team t({.threads = 2, .place = platform::placement::compact});
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  }
  EXPECT_TRUE(same(affinity(), before));
}

TEST(Affinity, IsRestoredWhenTheTeamEndsOnAnotherThread) {
  const cpu_set_t before = affinity();
  auto t =
      std::make_unique<team>(team_options{.threads = 2, .place = platform::placement::compact});
  std::thread([&] { t.reset(); }).join();
  EXPECT_TRUE(same(affinity(), before));
}

// ---- between regions

TEST(Idle, WorkersGiveTheirCoresBack) {
  for (const shape& s : {shape{4}, shape{3, 12}, shape{4, 0, "mcs", "park"}}) {
    team t(s.options());
    expect_works(t);
    // Beside a busy process a waiter may take some slices until it has learned that sleeping is
    // better.
    std::this_thread::sleep_for(200ms);
    const auto before = cpu_time();
    std::this_thread::sleep_for(300ms);
    // Three spinning workers would take several times as much; on one core still 300 ms.
    EXPECT_LT(cpu_time() - before, 100ms) << s;
    expect_works(t);
  }
}

// While one rank works, those that wait for it sleep; virtual ones too.
TEST(Idle, RanksThatWaitLongGiveTheirCoresBack) {
  for (const shape& s : {shape{4}, shape{3, 12}}) {
    team t(that_may_block(s.options()));
    t.run([&](member& me) {
      const auto before = cpu_time();
      if (me.rank() == 0) std::this_thread::sleep_for(300ms);
      me.barrier();
      if (me.rank() == 0) {
        EXPECT_LT(cpu_time() - before, 150ms) << s;
      }
    });
  }
}

}  // namespace
}  // namespace tutti::test
