// SPDX-License-Identifier: Apache-2.0
// Tests several hardware threads on a core: the programs that take threads for cores run unchanged,
// a thread that spins keeps no other one from running, accesses of a core's threads are as
// consistent as those of cores, and waiting costs other threads nothing. TUTTI_MACHINE_IMAGES is
// the folder of the images; the models that are linked decide about the sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hardware/machine/sim/checked_run.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::made_by;
using tutti::rtl::message_program;
using tutti::rtl::test_program;

const std::string folder = TUTTI_MACHINE_IMAGES;
constexpr std::uint64_t most_cycles = 10'000'000;

// Threads in all, sockets, and threads of a core.
struct size {
  unsigned threads, sockets, each;
};
constexpr size on_four_cores = {16, 1, 4}, on_two_cores = {8, 1, 4}, on_one_core = {4, 1, 4};

settings of(const size& on) {
  settings s;
  s.cores = on.threads;
  s.sockets = on.sockets;
  s.threads = on.each;
  s.messages = true;
  s.parameters[PARAM_EPISODES] = 20;
  s.parameters[PARAM_SEED] = 1;
  s.parameters[PARAM_TIMEOUT] = 200'000;
  return s;
}
settings with(test_program program, const size& on) {
  settings s = of(on);
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(program);
  return s;
}
settings with(message_program program, const size& on) {
  settings s = of(on);
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(program);
  return s;
}
ended_run run_tests(const settings& s, const std::string& what) {
  return run_well(folder + "/tests.bin", s, most_cycles, what);
}
ended_run run_messages(const settings& s, const std::string& what) {
  return run_well(folder + "/messages.bin", s, most_cycles, what);
}
std::string wrong_passages(const ended_run& done, unsigned threads) {
  return tutti::test::check(passages(done.events, 0, done.events.size()), threads, 20);
}

// ---- the core ----

TEST(Threads, OfOneCoreSeeEachOthersAccessesInOrder) {
  settings s = of(on_one_core);
  s.parameters[PARAM_EPISODES] = 40;
  const ended_run done = run_well(folder + "/litmus.bin", s, most_cycles, "litmus");
  EXPECT_EQ(done.data_of(0, TRACE_VALUE).size(), 6u);
}

TEST(Threads, SleepUntilTheirSignal) {
  settings s = with(test_program::signals, on_two_cores);
  s.parameters[PARAM_EPISODES] = 10;
  EXPECT_EQ(run_tests(s, "signals").data_of(0, TRACE_VALUE), std::vector<std::uint32_t>{80});
}

TEST(Threads, HaveTimersOfTheirOwn) {
  settings s = with(test_program::ticks, on_one_core);
  s.parameters[PARAM_QUANTUM] = 6000;
  const ended_run done = run_tests(s, "ticks");
  ASSERT_EQ(done.data(TRACE_VALUE).size(), 4u);
  for (const std::uint32_t cycles : done.data(TRACE_VALUE)) {
    EXPECT_GE(cycles, 4 * 6000u - 1000u);
    EXPECT_LE(cycles, 5 * 6000u + 10'000u);
  }
}

TEST(Threads, TakeRemoteCallsInTheirOwnRegisters) {
  const size on = on_one_core;
  const ended_run done = run_tests(with(test_program::remote_calls, on), "remote calls");
  for (unsigned thread = 0; thread < on.threads; ++thread)
    EXPECT_EQ(done.data_of(thread, TRACE_VALUE).at(0), thread == 0 ? 0u : 20u) << thread;
}

TEST(Threads, AreNamedWhenTheyStandStill) {
  settings s = with(message_program::stuck, on_one_core);
  s.patience = 20'000;
  try {
    run_to_end(folder + "/messages.bin", s, most_cycles, "stuck");
    FAIL() << "the run ended";
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("core 0, pc"), std::string::npos) << said;
    EXPECT_NE(said.find("core 3, pc"), std::string::npos) << said;
    EXPECT_NE(said.find("is idle (votes true)"), std::string::npos) << said;
    EXPECT_NE(said.find("has no empty slot for a message"), std::string::npos) << said;
  }
}

TEST(Settings, RefuseWhatAreNoCores) {
  settings s = of({6, 1, 4});
  try {
    tutti::machine::system m(folder + "/messages.bin", s);
    FAIL() << "6 threads are not cores of 4";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "threads: 6 in 1 sockets are not cores of 4 threads");
  }
}

// ---- barriers ----

TEST(Threads, WaitAtBarriersInHardware) {
  const auto run_at = [](const size& on, made_by how, unsigned distance, unsigned quantum) {
    settings s = with(test_program::episodes, on);
    s.unit_distance = distance;
    s.parameters[PARAM_DELAY] = quantum == 0 ? 60 : 400;
    s.parameters[PARAM_QUANTUM] = quantum;
    s.parameters[PARAM_A] = static_cast<std::uint32_t>(how);
    const ended_run done = run_tests(s, "episodes");
    EXPECT_EQ(wrong_passages(done, on.threads), "");
    if (quantum != 0) {
      EXPECT_GT(done.data(TRACE_RESTART).size(), 10u) << "the timer comes into the waits";
    }
  };
  run_at(on_four_cores, made_by::create, 0, 0);
  run_at(on_four_cores, made_by::create, 13, 2900);
  run_at(on_four_cores, made_by::create_structure, 13, 0);
  run_at(on_two_cores, made_by::create_structure, 0, 1900);
  run_at(on_two_cores, made_by::open_mask, 13, 1900);
}

TEST(Threads, WaitAtBarriersInSoftware) {
  // More participants than cores: those that spin leave the core to those that do not.
  EXPECT_EQ(check_conformance(folder, {.cores = 8,
                                       .threads = 4,
                                       .episodes = 4,
                                       .delay = 60,
                                       .participants = 5,
                                       .messages = true}),
            tutti::rtl::algorithm_count);
}

// ---- messages ----

TEST(Threads, ExchangeMessagesAndFindTheirEnd) {
  for (const size& on : {on_four_cores, on_one_core}) {
    settings s = with(message_program::random, on);
    s.parameters[PARAM_EPISODES] = 8;
    s.parameters[PARAM_DELAY] = 12;
    s.parameters[PARAM_A] = 1;
    const ended_run done = run_messages(s, "random");
    std::uint32_t sent = 0, refuted = 0;
    for (unsigned thread = 0; thread < on.threads; ++thread) {
      sent += done.data_of(thread, TRACE_VALUE).at(0);
      refuted += done.data_of(thread, TRACE_VALUE).at(1);
    }
    EXPECT_GT(sent, 40 * on.threads);
    EXPECT_GT(refuted, 0u) << "no message has come to an idle thread";
  }
}

TEST(Threads, AreIdleTogether) {
  for (const size& on : {on_four_cores, on_two_cores}) {
    settings s = with(message_program::late, on);
    s.parameters[PARAM_DELAY] = 5'000;
    EXPECT_GT(run_messages(s, "late").cycles, 15'000u);
    s = with(message_program::flood, on);
    run_messages(s, "flood");
    s = with(message_program::interrupted, on);
    s.parameters[PARAM_QUANTUM] = 1900;
    s.parameters[PARAM_DELAY] = 300;
    for (const std::uint32_t ticks : run_messages(s, "interrupted").data(TRACE_VALUE))
      EXPECT_GT(ticks, 5u);
  }
}

// The threads of a core wait for their messages at once: a core makes more round trips in the time.
TEST(Threads, HideTheWayOfTheirMessages) {
  const auto cycles = [](const settings& s) {
    const std::vector<std::uint32_t> all = run_messages(s, "round trips").data(TRACE_VALUE);
    return *std::max_element(all.begin(), all.end());
  };
  // Between two threads alone, and between all in pairs: each core makes four at once.
  settings s = with(message_program::ping_pong, on_four_cores);
  s.parameters[PARAM_A] = 15;
  const std::uint32_t one = cycles(s);
  const std::uint32_t four = cycles(with(message_program::pairs, on_four_cores));
  EXPECT_LT(four, 3 * one);
}

}  // namespace
