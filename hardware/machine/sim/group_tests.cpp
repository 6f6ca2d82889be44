// SPDX-License-Identifier: Apache-2.0
// Tests groups of threads and the values that threads give: a group's episode ends when its own
// threads are idle and none of its messages is under way, whatever other groups do; all its threads
// get the total of exactly the values with which they were idle; misuse is refused.
// TUTTI_MACHINE_IMAGES is the folder of the images.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hardware/machine/sim/checked_run.hpp"
#include "hardware/machine/sim/model.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::group_program;

const std::string image = std::string(TUTTI_MACHINE_IMAGES) + "/groups.bin";
constexpr std::uint64_t most_cycles = 5'000'000;

settings with(group_program program, unsigned cores, unsigned sockets) {
  settings s;
  s.cores = cores;
  s.sockets = sockets;
  s.messages = true;
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(program);
  s.parameters[PARAM_EPISODES] = 6;
  s.parameters[PARAM_SEED] = 1;
  return s;
}

struct size {
  unsigned cores, sockets;
};

TEST(Groups, EndWhenTheirThreadsAreIdleAndGetTheTotalOfTheirValues) {
  for (const size& on : {size{1, 1}, size{3, 1}, size{4, 1}, size{4, 4}}) {
    for (const std::uint32_t seed : {1u, 2u, 3u}) {
      settings s = with(group_program::random, on.cores, on.sockets);
      s.parameters[PARAM_SEED] = seed;
      // Threads that are interrupted while they are idle, too.
      s.parameters[PARAM_QUANTUM] = seed == 3 ? 900 : 0;
      const std::string what =
          "groups of " + std::to_string(on.cores) + " cores, seed " + std::to_string(seed);
      const ended_run done = run_well(image, s, most_cycles, what);
      std::uint32_t sent = 0, refuted = 0, totals = 0;
      for (unsigned core = 0; core < on.cores; ++core) {
        const auto values = done.data_of(core, TRACE_VALUE);
        ASSERT_EQ(values.size(), 3u) << what;
        sent += values[0];
        refuted += values[1];
        totals += values[2];
      }
      EXPECT_GT(sent, 8 * on.cores) << what;
      EXPECT_GT(totals, 5 * on.cores) << what;
      if (on.cores > 2) {
        EXPECT_GT(refuted, 0u) << "no message has come to an idle thread";
      }
    }
  }
}

TEST(Groups, DoNotWaitForEachOther) {
  for (const size& on : {size{4, 1}, size{4, 4}}) {
    settings s = with(group_program::apart, on.cores, on.sockets);
    // A step of the delay takes several cycles.
    s.parameters[PARAM_DELAY] = 10'000;
    const ended_run done = run_well(image, s, most_cycles, "apart");
    for (unsigned core = 0; core < on.cores; ++core) {
      const std::uint32_t took = done.data_of(core, TRACE_VALUE).at(0);
      if (core % 2 == 0)
        EXPECT_GT(took, 20'000u) << core;
      else
        EXPECT_LT(took, 14'000u) << core;
    }
  }
}

struct misuse {
  group_program program;
  unsigned sockets, why;
  const char* sentence;
};
constexpr misuse misuses[] = {
    {group_program::no_total, 1, 11, "a total of no values"},
    {group_program::mixed_total, 1, 12, "a total of values for different aggregators"},
    {group_program::no_group, 1, 9, "a group that does not exist"},
    {group_program::from_group_to_group, 1, 10, "a group that is entered from another one than 0"},
    {group_program::to_another_group, 1, 8, "a message to a thread of another group"},
    {group_program::to_another_group, 4, 8, "a message to a thread of another group"},
    {group_program::to_another_socket, 4, 8, "a message to a thread of another group"},
};

TEST(Groups, RefuseMisuseAndNameIt) {
  for (const misuse& m : misuses) {
    const std::string what = "misuse " + std::to_string(static_cast<unsigned>(m.program));
    const ended_run done = run_to_end(image, with(m.program, 4, m.sockets), most_cycles, what);
    EXPECT_EQ(done.status[0], STATUS_TRAP | 24u) << what;
    EXPECT_EQ(done.status[1], 0u) << what;
    EXPECT_NE(done.console.find(m.sentence), std::string::npos) << what << ": " << done.console;
    const auto traps = done.data_of(0, TRACE_TRAP);
    ASSERT_EQ(traps.size(), 1u) << what;
    EXPECT_EQ(traps[0], 24u << 16 | m.why) << what;
    EXPECT_TRUE(done.data(TRACE_WRONG).empty()) << what << ": the machine let it pass";
  }
}

}  // namespace
