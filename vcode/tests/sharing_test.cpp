// SPDX-License-Identifier: Apache-2.0
// The decision whether an instruction pays more than one thread, on a simulated clock; and that a
// run whose threads another thread makes gives the result of one thread, whenever they are there.
#include "vcode/machine/sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "vcode/machine/first_threads.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

using verdict = sharing_decision::verdict;
using threads = sharing_decision::threads;

constexpr std::uint64_t ms = 1'000'000;

// What the machine answers, and what it was last asked.
bool answer = true;
unsigned asked = 0, asked_mine = 0;
bool has_cpus(unsigned mine, unsigned) {
  ++asked;
  asked_mine = mine;
  return answer;
}

class VcodeSharing : public testing::Test {
 protected:
  void SetUp() override {
    answer = true;
    asked = asked_mine = 0;
  }
};

TEST_F(VcodeSharing, MakesThreadsAfterEnoughWork) {
  sharing_decision d(1000, 0, has_cpus);
  EXPECT_EQ(d.decide(400, threads::none, 2, 1), verdict::alone);
  EXPECT_EQ(d.decide(400, threads::none, 2, 2), verdict::alone);
  EXPECT_EQ(asked, 0u);
  EXPECT_EQ(d.decide(400, threads::none, 2, 3), verdict::make_threads);
  EXPECT_EQ(d.decide(400, threads::being_made, 2, 4), verdict::alone);
  EXPECT_EQ(d.decide(1, threads::made, 2, 5), verdict::share);
}

// Making threads costs time that a program of a few milliseconds does not get back.
TEST_F(VcodeSharing, MakesNoThreadsInAShortRun) {
  sharing_decision d(1000, 8 * ms, has_cpus);
  EXPECT_EQ(d.decide(400, threads::none, 2, 100 * ms), verdict::alone);
  EXPECT_EQ(d.decide(400, threads::none, 2, 101 * ms), verdict::alone);
  EXPECT_EQ(d.decide(400, threads::none, 2, 108 * ms - 1), verdict::alone);
  EXPECT_EQ(asked, 0u);
  EXPECT_EQ(d.decide(1, threads::none, 2, 108 * ms), verdict::make_threads);
}

// A program may be one long instruction.
TEST_F(VcodeSharing, SharesALongInstructionAtOnce) {
  sharing_decision d(1000, 8 * ms, has_cpus);
  answer = false;
  EXPECT_EQ(d.decide(500, threads::none, 2, 1 * ms), verdict::alone);
  answer = true;
  EXPECT_EQ(d.decide(500, threads::none, 2, 5 * ms), verdict::share);
  EXPECT_EQ(d.decide(500, threads::none, 2, 9 * ms), verdict::make_and_share);
  EXPECT_EQ(d.decide(500, threads::being_made, 2, 9 * ms), verdict::share);
}

TEST_F(VcodeSharing, WorksAloneWhileOthersLeaveNoCpu) {
  sharing_decision d(4, 0, has_cpus);
  answer = false;
  // Too little work so far: nothing is asked.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(d.decide(1, threads::none, 2, 9 * ms), verdict::alone);
  EXPECT_EQ(asked, 0u);
  EXPECT_EQ(d.decide(1, threads::none, 2, 10 * ms), verdict::alone);
  answer = true;
  EXPECT_EQ(d.decide(1, threads::none, 2, 13 * ms), verdict::alone);
  EXPECT_EQ(asked, 1u);
  EXPECT_EQ(d.decide(1, threads::none, 2, 14 * ms), verdict::make_threads);
  EXPECT_EQ(asked_mine, 1u);
  // Threads that have just worked still poll and count as running; those that have slept do not.
  EXPECT_EQ(d.decide(1, threads::made, 2, 18 * ms), verdict::share);
  EXPECT_EQ(asked_mine, 2u);
  answer = false;
  EXPECT_EQ(d.decide(1, threads::made, 2, 22 * ms), verdict::alone);
  EXPECT_EQ(d.decide(1, threads::made, 2, 26 * ms), verdict::alone);
  EXPECT_EQ(asked_mine, 1u);
}

// Asking costs time, too: an engine that has heard no waits 4, 8, 16, 32 ms, and then always 32.
TEST_F(VcodeSharing, AsksLessOftenWhileOthersLeaveNoCpu) {
  sharing_decision d(4, 0, has_cpus);
  answer = false;
  std::vector<std::uint64_t> times;
  for (std::uint64_t now = 1000 * ms; now < 1200 * ms; now += ms) {
    const unsigned before = asked;
    d.decide(4, threads::made, 2, now);
    if (asked != before) times.push_back(now / ms - 1000);
  }
  EXPECT_EQ(times, (std::vector<std::uint64_t>{0, 4, 12, 28, 60, 92, 124, 156, 188}));
  answer = true;
  EXPECT_EQ(d.decide(4, threads::made, 2, 1220 * ms), verdict::share);
  EXPECT_EQ(d.decide(4, threads::made, 2, 1224 * ms), verdict::share);
  EXPECT_EQ(asked, 11u);
}

// The clock is not read for each instruction of a program that is kept alone.
TEST_F(VcodeSharing, DecidesAnewAfterSomeWorkAlone) {
  sharing_decision d(4, 0, has_cpus);
  EXPECT_FALSE(d.stays_alone(1));
  EXPECT_EQ(d.decide(1, threads::none, 2, 0), verdict::alone);
  // It has not had enough work yet; the next instruction may be enough.
  EXPECT_FALSE(d.stays_alone(1));
  answer = false;
  EXPECT_EQ(d.decide(4, threads::none, 2, 0), verdict::alone);
  EXPECT_TRUE(d.stays_alone(1 << 19));
  EXPECT_FALSE(d.stays_alone(1 << 19));
  EXPECT_EQ(d.decide(4, threads::none, 2, 1), verdict::alone);
  EXPECT_TRUE(d.stays_alone(1));
  answer = true;
  EXPECT_EQ(d.decide(4, threads::made, 2, 4 * ms), verdict::share);
  EXPECT_FALSE(d.stays_alone(1));
}

// While threads are made they count as running, so the machine is not asked.
TEST_F(VcodeSharing, DoesNotAskWhileThreadsAreMade) {
  sharing_decision d(4, 0, has_cpus);
  for (int i = 0; i < 3; ++i) d.decide(1, threads::none, 2, 0);
  EXPECT_EQ(d.decide(1, threads::none, 2, 0), verdict::make_threads);
  EXPECT_EQ(d.decide(1, threads::being_made, 2, 100 * ms), verdict::alone);
  EXPECT_EQ(asked, 1u);
}

// Two parts of which the caller executed one in 100 us; the other ended 3 ms later.
constexpr sharing_decision::region lost_cpu{1, 2, ms / 10, ms / 10 + 3 * ms};

TEST_F(VcodeSharing, WorksAloneAfterAThreadHasLostItsCpu) {
  sharing_decision d;
  std::uint64_t now = 100 * ms, alone = 2 * ms;
  for (int time = 0; time < 8; ++time) {
    EXPECT_EQ(d.decide(1, threads::made, 2, now), verdict::share);
    now += lost_cpu.all_ns;
    d.note_region(lost_cpu, now);
    EXPECT_EQ(d.decide(1, threads::made, 2, now + alone - 1), verdict::alone) << time;
    now += alone;
    alone = std::min(2 * alone, 128 * ms);
  }
  EXPECT_EQ(d.decide(1, threads::made, 2, now), verdict::share);
  // It happens no more: the next time counts as the first again.
  now += 1000 * ms;
  d.note_region({1, 2, ms, ms}, now);
  d.note_region(lost_cpu, now);
  EXPECT_EQ(d.decide(1, threads::made, 2, now + 2 * ms), verdict::share);
}

TEST_F(VcodeSharing, DoesNotMindALateThreadIfTheOwnPartWasLonger) {
  sharing_decision d;
  d.note_region({1, 2, 5 * ms, 9 * ms}, 9 * ms);
  EXPECT_EQ(d.decide(1, threads::made, 2, 9 * ms), verdict::share);
}

// The caller takes the parts of threads that do not come. Each region costs a little more than its
// work; half a millisecond of them tells that.
TEST_F(VcodeSharing, WorksAloneWhileSmallRegionsDoNotPay) {
  constexpr std::uint64_t us = 1000;
  sharing_decision d;
  std::uint64_t now = 0;
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(d.decide(1, threads::made, 2, now), verdict::share) << i;
    d.note_region({2, 2, 50 * us, 60 * us}, now += 60 * us);
  }
  EXPECT_EQ(d.decide(1, threads::made, 2, now + 2 * ms - 1), verdict::alone);
  // Where the other thread takes its half, the same regions pay.
  EXPECT_EQ(d.decide(1, threads::made, 2, now += 2 * ms), verdict::share);
  for (int i = 0; i < 100; ++i) {
    d.note_region({1, 2, 25 * us, 35 * us}, now += 35 * us);
    EXPECT_EQ(d.decide(1, threads::made, 2, now), verdict::share) << i;
  }
}

// Regions may be executed by threads that have no team yet.
TEST(VcodeFirstThreads, ExecuteEveryPartOnce) {
  for (const unsigned most : {1u, 2u, 4u}) {
    engines::first_threads first(most);
    for (const unsigned parts : {1u, 2u, 3u, 8u, 2u, 2u}) {
      std::vector<int> done(parts);
      const engines::own_share mine = first.region(
          parts,
          [](void* object, unsigned part) { ++(*static_cast<std::vector<int>*>(object))[part]; },
          &done);
      EXPECT_EQ(done, std::vector<int>(parts, 1)) << parts << " parts, " << most << " threads";
      EXPECT_GE(mine.parts, 1u);
      EXPECT_LE(mine.parts, parts);
      EXPECT_TRUE(most > 1 || mine.parts == parts);
    }
    EXPECT_FALSE(first.is_done());
    first.begin();
    while (!first.is_done()) std::this_thread::yield();
  }
}

// Runs of every length around the moment at which the threads are made, and while they are; and
// runs that begin with a long instruction.
TEST(VcodeThreadsBeside, GiveTheResultOfOneThread) {
  struct trial {
    int loops, length;
  };
  for (const auto [loops, length] :
       {trial{1, 1'000'000}, trial{20, 1'000'000}, trial{60, 1'000'000}, trial{200, 1'000'000},
        trial{1, 10'000'000}, trial{3, 10'000'000}}) {
    const std::string segments = "CONST SEGDES " + std::to_string(length);
    const program code = compile("FUNC MAIN CONST INT " + std::to_string(loops) +
                                     " CONST INT 0 CALL LOOP POP 1 1 RET "
                                     "FUNC LOOP COPY 1 1 CONST INT 0 > INT IF "
                                     "CONST INT 1 CONST INT 1 " +
                                     segments + " INDEX COPY 1 0 * INT " + segments +
                                     " +_REDUCE INT + INT "
                                     "CPOP 1 1 CONST INT 1 - INT CPOP 1 1 CALL LOOP ENDIF RET",
                                 "loop");
    run_options alone, two;
    alone.threads = 1;
    two.threads = 2;
    EXPECT_EQ(run(code, {}, two).stack, run(code, {}, alone).stack) << loops << " x " << length;
  }
}

}  // namespace
}  // namespace tutti::vcode
