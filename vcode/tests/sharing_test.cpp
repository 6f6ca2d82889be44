// SPDX-License-Identifier: Apache-2.0
// The decision whether an instruction pays more than one thread, on a simulated clock; and that a
// run whose threads another thread makes gives the result of one thread, whenever they are there.
#include "vcode/machine/sharing.hpp"

#include <gtest/gtest.h>

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
  sharing_decision d(1000, has_cpus);
  EXPECT_EQ(d.decide(400, threads::none, 2, 1), verdict::alone);
  EXPECT_EQ(d.decide(400, threads::none, 2, 2), verdict::alone);
  EXPECT_EQ(asked, 0u);
  EXPECT_EQ(d.decide(400, threads::none, 2, 3), verdict::make_threads);
  EXPECT_EQ(d.decide(400, threads::being_made, 2, 4), verdict::alone);
  EXPECT_EQ(d.decide(1, threads::made, 2, 5), verdict::share);
}

// A program may be one long instruction.
TEST_F(VcodeSharing, SharesALongInstructionAtOnce) {
  sharing_decision d(1000, has_cpus);
  answer = false;
  EXPECT_EQ(d.decide(500, threads::none, 2, 0), verdict::alone);
  answer = true;
  EXPECT_EQ(d.decide(500, threads::none, 2, 4 * ms), verdict::share);
  EXPECT_EQ(d.decide(500, threads::being_made, 2, 4 * ms), verdict::share);
}

TEST_F(VcodeSharing, WorksAloneWhileOthersLeaveNoCpu) {
  sharing_decision d(4, has_cpus);
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

// While threads are made they count as running, so the machine is not asked.
TEST_F(VcodeSharing, DoesNotAskWhileThreadsAreMade) {
  sharing_decision d(4, has_cpus);
  for (int i = 0; i < 3; ++i) d.decide(1, threads::none, 2, 0);
  EXPECT_EQ(d.decide(1, threads::none, 2, 0), verdict::make_threads);
  EXPECT_EQ(d.decide(1, threads::being_made, 2, 100 * ms), verdict::alone);
  EXPECT_EQ(asked, 1u);
}

TEST_F(VcodeSharing, WorksAloneAfterAThreadHasLostItsCpu) {
  sharing_decision d;
  std::uint64_t now = 100 * ms, alone = 2 * ms;
  for (int time = 0; time < 8; ++time) {
    EXPECT_EQ(d.decide(1, threads::made, 2, now), verdict::share);
    // The caller's part took 100 us; the other one ended 3 ms later.
    d.note_region(ms / 10, now + ms / 10, now + ms / 10 + 3 * ms);
    now += ms / 10 + 3 * ms;
    EXPECT_EQ(d.decide(1, threads::made, 2, now + alone - 1), verdict::alone) << time;
    now += alone;
    alone = std::min(2 * alone, 128 * ms);
  }
  EXPECT_EQ(d.decide(1, threads::made, 2, now), verdict::share);
  // It happens no more: the next time counts as the first again.
  now += 1000 * ms;
  d.note_region(ms, now, now);
  d.note_region(ms / 10, now, now + 3 * ms);
  EXPECT_EQ(d.decide(1, threads::made, 2, now + 3 * ms + 2 * ms), verdict::share);
}

TEST_F(VcodeSharing, DoesNotMindALateThreadIfTheOwnPartWasLonger) {
  sharing_decision d;
  d.note_region(5 * ms, 5 * ms, 9 * ms);
  EXPECT_EQ(d.decide(1, threads::made, 2, 9 * ms), verdict::share);
}

// Runs of every length around the moment at which the threads are made, and while they are.
TEST(VcodeThreadsBeside, GiveTheResultOfOneThread) {
  for (const int loops : {1, 20, 60, 200}) {
    const program code =
        compile("FUNC MAIN CONST INT " + std::to_string(loops) +
                    " CONST INT 0 CALL LOOP POP 1 1 RET "
                    "FUNC LOOP COPY 1 1 CONST INT 0 > INT IF "
                    "CONST INT 1 CONST INT 1 CONST SEGDES 1000000 INDEX COPY 1 0 * INT "
                    "CONST SEGDES 1000000 +_REDUCE INT + INT "
                    "CPOP 1 1 CONST INT 1 - INT CPOP 1 1 CALL LOOP ENDIF RET",
                "loop");
    run_options alone, two;
    alone.threads = 1;
    two.threads = 2;
    EXPECT_EQ(run(code, {}, two).stack, run(code, {}, alone).stack) << loops;
  }
}

}  // namespace
}  // namespace tutti::vcode
