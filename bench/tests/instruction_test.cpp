// SPDX-License-Identifier: Apache-2.0
// Does the bench of instructions end in time, and say what it left out?
#include <gtest/gtest.h>
#include <unistd.h>

#include "bench/harness/watchdog.hpp"
#include "bench/tests/fake_barriers.hpp"
#include "bench/vcode/instruction_suite.hpp"
#include "tests/support/json_lines.hpp"
#include "tutti/platform/clock.hpp"

namespace tutti::bench {
namespace {

cli::json idle_machine() {
  cli::json machine = describe_machine();
  machine["foreign_load"] = 0.0;
  machine["steal"] = 0.0;
  return machine;
}

void quiet(const std::string&, double) {}

instruction_plan plan_with(const contender& who) {
  instruction_plan plan;
  plan.contenders = {who};
  plan.threads = {2};
  plan.length.rounds = 15;
  plan.length.bounds_rounds = true;
  return plan;
}

const instruction_suite::result& of_fake(const instruction_suite& s) {
  for (const auto& r : s.results()) {
    if (r.family == "fake") return r;
  }
  throw std::runtime_error("it is not there");
}

// 20,000 instructions would take 20 s in each of 15 rounds.
TEST(Instruction, ABarrierThatIsSlowGetsFewerRoundsOrInstructions) {
  auto plan =
      plan_with(fake("slow", [](rank_t n) { return std::make_unique<slowed_barrier>(n, 1e6); }));
  plan.length.seconds = 5;
  instruction_suite s(plan);
  const std::uint64_t begin = platform::now_ns();
  s.run(quiet);
  EXPECT_LT(platform::now_ns() - begin, 15'000'000'000);
  const auto& slow = of_fake(s);
  EXPECT_GE(slow.rounds, 1u);
  EXPECT_LT(slow.instructions, plan.count);
  EXPECT_TRUE(s.is_cut(slow));
  EXPECT_NE(table(s, idle_machine()).find("The time was too short"), std::string::npos);
  for (const auto& line : test::results_of(json_lines(s, idle_machine()))) {
    if (line.at("provider") == "fake") {
      EXPECT_LT(line.at("instructions").get<std::uint64_t>(), plan.count);
    }
  }
}

TEST(Instruction, WithEnoughTimeNothingIsCut) {
  auto plan =
      plan_with(fake("quick", [](rank_t n) { return std::make_unique<slowed_barrier>(n, 0); }));
  plan.count = 200;
  plan.length.rounds = 3;
  plan.length.seconds = 60;
  instruction_suite s(plan);
  s.run(quiet);
  for (const auto& r : s.results()) {
    EXPECT_EQ(r.rounds, 3u) << r.name;
    EXPECT_EQ(r.instructions, 200u) << r.name;
  }
  EXPECT_EQ(table(s, idle_machine()).find("too short"), std::string::npos);
}

TEST(Instruction, ABarrierThatNeverReturnsEndsTheProgram) {
  class hung final : public timed_barrier_base<hung> {
   public:
    void one_episode(rank_t) { pause(); }
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto plan = plan_with(fake("hung", [](rank_t) { return std::make_unique<hung>(); }));
  plan.length.longest_round_s = 1;
  EXPECT_EXIT(instruction_suite(plan).run(quiet), testing::ExitedWithCode(hung_status),
              "fake hung with 2 threads .* did not finish a round within 1 s");
}

}  // namespace
}  // namespace tutti::bench
