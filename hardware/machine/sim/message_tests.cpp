// SPDX-License-Identifier: Apache-2.0
// Tests mailboxes, their network and the detector on the machine: messages arrive once, unchanged
// and in order; the end of messages is announced when it has come, not before and not never; misuse
// is refused. TUTTI_MACHINE_IMAGES is the folder of the images; the models that are linked decide
// about the sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "hardware/machine/sim/checked_run.hpp"
#include "hardware/machine/sim/model.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::message_fault;
using tutti::rtl::message_program;

const std::string image = std::string(TUTTI_MACHINE_IMAGES) + "/messages.bin";
constexpr std::uint64_t most_cycles = 5'000'000;

settings with(message_program program, unsigned cores, unsigned sockets) {
  settings s;
  s.cores = cores;
  s.sockets = sockets;
  s.messages = true;
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(program);
  s.parameters[PARAM_EPISODES] = 20;
  s.parameters[PARAM_SEED] = 1;
  return s;
}

struct size {
  unsigned cores, sockets;
};
constexpr size sizes[] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {4, 4}};
std::string name_of(const char* what, const size& on) {
  return std::string(what) + ", " + std::to_string(on.cores) + " cores in " +
         std::to_string(on.sockets) + " sockets";
}

// The detector must have ended as many waves with a find as there were episodes.
std::size_t finds_of(const tutti::machine::system& m) {
  return static_cast<std::size_t>(
      std::count_if(m.waves().begin(), m.waves().end(), [](const wave& w) { return w.detected; }));
}

TEST(Messages, ArriveOnceAndTheirEndIsFoundWhenItHasCome) {
  for (const size& on : sizes) {
    for (const bool checks : {true, false}) {
      settings s = with(message_program::random, on.cores, on.sockets);
      s.parameters[PARAM_DELAY] = 12;
      s.parameters[PARAM_A] = checks ? 1 : 0;
      const ended_run done = run_well(image, s, most_cycles, name_of("random", on));
      std::uint32_t sent = 0, refuted = 0;
      for (unsigned core = 0; core < on.cores; ++core) {
        const auto values = done.data_of(core, TRACE_VALUE);
        ASSERT_EQ(values.size(), 2u);
        sent += values[0];
        refuted += values[1];
      }
      EXPECT_GT(sent, 100 * on.cores) << name_of("random", on);
      if (on.cores > 1) {
        EXPECT_GT(refuted, 0u) << "no message has come to an idle thread";
      }
    }
  }
}

TEST(Messages, TheirEndIsFoundOnceForEachEpisode) {
  settings s = with(message_program::random, 4, 1);
  s.parameters[PARAM_DELAY] = 12;
  tutti::machine::system m(image, s);
  ASSERT_TRUE(m.run(most_cycles));
  EXPECT_EQ(finds_of(m), 20u);
}

TEST(Messages, NobodyReturnsBeforeTheLastThreadIsIdle) {
  for (const size& on : {size{2, 1}, size{4, 4}}) {
    settings s = with(message_program::late, on.cores, on.sockets);
    s.parameters[PARAM_DELAY] = 5'000;
    const ended_run done = run_well(image, s, most_cycles, name_of("late", on));
    EXPECT_GT(done.cycles, 15'000u);
  }
}

TEST(Messages, WaitInTheNetworkWhileTheReceiverHasNoSlot) {
  for (const size& on : {size{2, 1}, size{4, 1}, size{4, 4}}) {
    const ended_run done = run_well(image, with(message_program::flood, on.cores, on.sockets),
                                    most_cycles, name_of("flood", on));
    // The queues on the way hold so many: four at each router, and 16 on the link.
    const std::uint32_t fitted = done.data_of(0, TRACE_VALUE).at(0);
    EXPECT_GT(fitted, 4u);
    EXPECT_LT(fitted, 60u) << name_of("flood", on);
  }
}

TEST(Messages, WhoIsInterruptedStaysIdleAndMissesNothing) {
  for (const size& on : {size{2, 1}, size{4, 4}}) {
    settings s = with(message_program::interrupted, on.cores, on.sockets);
    s.parameters[PARAM_QUANTUM] = 700;
    s.parameters[PARAM_DELAY] = 300;
    const ended_run done = run_well(image, s, most_cycles, name_of("interrupted", on));
    for (const std::uint32_t ticks : done.data(TRACE_VALUE)) EXPECT_GT(ticks, 20u);
  }
}

TEST(Messages, AMessageThatNobodyTakesKeepsAllFromReturning) {
  settings s = with(message_program::stuck, 2, 1);
  s.patience = 20'000;
  try {
    run_to_end(image, s, most_cycles, "stuck");
    FAIL() << "the run ended";
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("is idle (votes true)"), std::string::npos) << said;
    EXPECT_NE(said.find("has no empty slot for a message"), std::string::npos) << said;
  }
}

// Three cores are no pairs: nobody sends to the last one.
TEST(Messages, AThreadThatWaitsForOneIsNotTakenForOneAtABarrier) {
  settings s = with(message_program::pairs, 3, 1);
  s.patience = 20'000;
  try {
    run_to_end(image, s, most_cycles, "pairs");
    FAIL() << "the run ended";
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find(": waits for a message or for room for one for 2"), std::string::npos)
        << said;
  }
}

struct misuse {
  message_program program;
  unsigned cause;
  // What the trap's trace has beside the cause: why the mailbox refused, or the address.
  unsigned why;
  const char* sentence;
};
constexpr unsigned store = 7;
constexpr misuse misuses[] = {
    {message_program::to_nobody, 24, 2, "a message to a core that does not exist"},
    {message_program::too_long, 24, 3, "a message that is too long"},
    {message_program::no_slot, 24, 4, "a slot that the mailbox does not have"},
    {message_program::send_without_slot, 24, 4, "a slot that the mailbox does not have"},
    {message_program::given_twice, 24, 5, "a slot that belongs to the mailbox"},
    {message_program::send_a_given_slot, 24, 5, "a slot that belongs to the mailbox"},
    {message_program::store_to_a_given_slot, store, 3 * 64, "a store to memory"},
    {message_program::receive_nothing, 24, 6, "a receive without a message"},
    {message_program::store_behind_the_slots, store, 16 * 64, "a store to memory"},
    {message_program::store_behind_the_words, store, 16, "a store to memory"},
    {message_program::byte_of_a_slot, store, 0, "a store to memory"},
    {message_program::unknown, 2, 0x700b, "an instruction that does not exist"},
};

TEST(Mailbox, RefusesMisuseAndNamesIt) {
  for (const misuse& m : misuses) {
    const std::string what = "misuse " + std::to_string(static_cast<unsigned>(m.program));
    const ended_run done = run_to_end(image, with(m.program, 2, 1), most_cycles, what);
    EXPECT_EQ(done.status[0], STATUS_TRAP | m.cause) << what;
    EXPECT_EQ(done.status[1], 0u) << what;
    EXPECT_NE(done.console.find(m.sentence), std::string::npos) << what << ": " << done.console;
    const auto traps = done.data_of(0, TRACE_TRAP);
    ASSERT_EQ(traps.size(), 1u) << what;
    EXPECT_EQ(traps[0], m.cause << 16 | m.why) << what;
    EXPECT_TRUE(done.data(TRACE_WRONG).empty()) << what << ": the machine let it pass";
  }
}

TEST(Mailbox, DoesNotExistInAMachineWithoutMessages) {
  if (std::none_of(models().begin(), models().end(),
                   [](const built_model& m) { return !m.messages && m.sockets == 1; }))
    GTEST_SKIP() << "no such model is linked";
  settings s = with(message_program::receive_nothing, 2, 1);
  s.messages = false;
  const ended_run done = run_to_end(image, s, most_cycles, "without messages");
  EXPECT_EQ(done.status[0], STATUS_TRAP | 2u);
}

}  // namespace
