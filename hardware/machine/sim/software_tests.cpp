// SPDX-License-Identifier: Apache-2.0
// Tests the kernel, the platform and the barrier unit on the machine: what the programs of
// software/ do, and what happens when they misuse it. TUTTI_MACHINE_IMAGES is the folder of the
// images; the models that are linked decide about the sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "hardware/machine/sim/change_over.hpp"
#include "hardware/machine/sim/checked_run.hpp"
#include "hardware/machine/sim/model.hpp"
#include "tutti/registry.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::made_by;
using tutti::rtl::test_program;

const std::string folder = TUTTI_MACHINE_IMAGES;

// The first model that is built with so many cores in a socket.
settings with(test_program program, unsigned cores, unsigned sockets = 1) {
  settings s;
  s.cores = cores;
  s.sockets = sockets;
  s.ideal = std::none_of(models().begin(), models().end(), [&](const built_model& m) {
    return !m.ideal && m.sockets == sockets && m.cores >= cores;
  });
  s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(program);
  s.parameters[PARAM_TIMEOUT] = 200'000;
  s.parameters[PARAM_EPISODES] = 20;
  s.parameters[PARAM_SEED] = 1;
  return s;
}

// Whether a model with caches is linked.
bool is_built(unsigned cores, unsigned sockets) {
  return std::any_of(models().begin(), models().end(), [&](const built_model& m) {
    return !m.ideal && m.sockets == sockets && m.cores >= cores;
  });
}

constexpr std::uint64_t most_cycles = 5'000'000;

ended_run run(const settings& s, const std::string& what) {
  return run_well(folder + "/tests.bin", s, most_cycles, what);
}

// What the program traces of a negative result.
constexpr std::uint32_t traced(std::int32_t result) {
  return static_cast<std::uint32_t>(result) & 0xfffffffu;
}

// ---- misuse ----

struct misuse {
  test_program program;
  unsigned cause;
  // The low half of mtval, which names the instruction or the address; 0x10000 for any.
  unsigned value;
  const char* sentence;
};
constexpr unsigned any = 0x10000;
constexpr const char* no_instruction = "an instruction that does not exist";
constexpr misuse misuses[] = {
    {test_program::zero_instruction, 2, 0, no_instruction},
    {test_program::privileged_register, 2, 0x22f3, no_instruction},
    {test_program::return_from_trap, 2, 0x0073, no_instruction},
    {test_program::breakpoint, 3, any, "a breakpoint at"},
    {test_program::misaligned_load, 4, any, "a load from an address that is not aligned"},
    {test_program::misaligned_store, 6, any, "a store to an address that is not aligned"},
    {test_program::load_of_the_kernels, 5, 0,
     "a load from memory that is not there or not its own"},
    {test_program::store_to_the_kernels, 7, 0,
     "a store to memory that is not there or not its own"},
    {test_program::atomic_on_the_kernels, 7, 0, "a store to memory that is not there"},
    {test_program::store_to_the_program, 7, 0x80, "a store to memory that is not there"},
    {test_program::load_from_nowhere, 5, 0, "a load from memory that is not there"},
    {test_program::store_to_nowhere, 7, 0, "a store to memory that is not there"},
    {test_program::jump_to_data, 1, any, "it jumped to where there is no program"},
    {test_program::interrupt_without_the_kernel, 7, 0x14, "a store to memory that is not there"},
    {test_program::timer_without_the_kernel, 7, 0x20, "a store to memory that is not there"},
    {test_program::barrier_set_by_a_thread, 24, any, "an instruction of the barrier unit"},
    {test_program::unknown_extension, 2, any, no_instruction},
    {test_program::move_with_bits_without_a_meaning, 2, 0x502b, no_instruction},
    {test_program::structure_without_the_kernel, 7, 0, "a store to memory that is not there"},
    {test_program::counting_unit_set_by_a_thread, 7, 0xc0, "a store to memory that is not there"},
    {test_program::counting_unit_in_another_socket, 7, 0x4000,
     "a store to memory that is not there"},
    {test_program::no_barrier_unit, 5, 0x8000, "a load from memory that is not there"},
    {test_program::half_a_word_of_a_unit, 7, 0x4000, "a store to memory that is not there"},
    {test_program::remote_call_to_nobody, 7, 0x2c, "a store to memory that is not there"},
    {test_program::callers_set_by_a_thread, 7, 0x30, "a store to memory that is not there"},
    {test_program::remote_calls_taken_without_the_kernel, 2, 0xd073, no_instruction},
    {test_program::return_without_a_call, 2, 0x0073, no_instruction},
};

TEST(Misuse, EndsTheThreadWithASentenceThatNamesTheCause) {
  for (const misuse& m : misuses) {
    const std::string what = "misuse " + std::to_string(static_cast<unsigned>(m.program));
    const ended_run done = run_to_end(folder + "/tests.bin", with(m.program, 2), most_cycles, what);
    EXPECT_EQ(done.status[0], STATUS_TRAP | m.cause) << what;
    EXPECT_EQ(done.status[1], 0u) << what << ": the other thread ends as it would alone";
    EXPECT_NE(done.console.find(m.sentence), std::string::npos) << what << ": " << done.console;
    const auto traps = done.data_of(0, TRACE_TRAP);
    ASSERT_EQ(traps.size(), 1u) << what;
    EXPECT_EQ(traps[0] >> 16, m.cause) << what;
    if (m.value != any) {
      EXPECT_EQ(traps[0] & 0xffff, m.value) << what;
    }
    EXPECT_TRUE(done.data(TRACE_WRONG).empty()) << what << ": the machine let it pass";
  }
}

// The thread's end is what such a run lacks.
TEST(Misuse, IsNamedAlsoByARunThatDoesNotEnd) {
  const settings s = with(test_program::zero_instruction, 2);
  const ended_run done = run_to_end(folder + "/tests.bin", s, most_cycles, "misuse");
  try {
    run_to_end(folder + "/tests.bin", s, done.cycles - 1, "misuse");
    FAIL() << "the run ended";
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("misuse: did not end within"), std::string::npos) << said;
    EXPECT_NE(said.find(no_instruction), std::string::npos) << said;
  }
}

// ---- the kernel ----

TEST(Kernel, TakesTimerInterrupts) {
  settings s = with(test_program::ticks, 2);
  s.parameters[PARAM_QUANTUM] = 3000;
  const ended_run done = run(s, "ticks");
  ASSERT_EQ(done.data(TRACE_VALUE).size(), 2u);
  for (const std::uint32_t cycles : done.data(TRACE_VALUE)) {
    // The first one may have come before the program read the clock.
    EXPECT_GE(cycles, 4 * 3000u - 1000u);
    EXPECT_LE(cycles, 5 * 3000u + 5000u);
  }
}

TEST(Kernel, SendsSignalsAround) {
  settings s = with(test_program::signals, 4);
  s.parameters[PARAM_EPISODES] = 10;
  EXPECT_EQ(run(s, "signals").data_of(0, TRACE_VALUE), std::vector<std::uint32_t>{40});
}

TEST(Kernel, GivesUpWaitingForASignal) {
  const std::vector<std::uint32_t> values =
      run(with(test_program::no_signal, 2), "no signal").data_of(1, TRACE_VALUE);
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0], 0u) << "no signal came";
  EXPECT_GE(values[1], 3000u) << "it waited long enough";
  EXPECT_LE(values[1], 4500u);
  EXPECT_EQ(values[2], traced(ERROR_CORE)) << "a core that does not exist";
  EXPECT_EQ(values[3], traced(ERROR_CALL)) << "an unknown call";
}

// ---- remote calls ----

TEST(RemoteCall, IsCountedOnceByEachAndEndsASleep) {
  for (const unsigned sockets : {1u, 2u}) {
    if (!is_built(4, sockets) && sockets > 1) continue;
    settings s = with(test_program::remote_calls, 4, sockets);
    const ended_run done = run(s, "remote calls");
    for (unsigned core = 0; core < 4; ++core)
      EXPECT_EQ(done.data_of(core, TRACE_VALUE),
                (std::vector<std::uint32_t>{core == 0 ? 0u : 20u, traced(ERROR_CALL)}))
          << "core " << core;
  }
}

TEST(RemoteCall, IntoABarwaitKeepsItsArrival) {
  for (const made_by made : {made_by::create, made_by::create_structure, made_by::open_mask}) {
    settings s = with(test_program::called_waits, 4);
    s.unit_distance = 10;
    s.parameters[PARAM_A] = static_cast<std::uint32_t>(made);
    const ended_run done = run(s, "calls into waits");
    EXPECT_EQ(tutti::test::check(passages(done.events, 0, done.events.size()), 4, 20), "");
    // Each is called in the 15 episodes in which another one comes last.
    for (unsigned core = 0; core < 4; ++core)
      EXPECT_EQ(done.data_of(core, TRACE_VALUE), std::vector<std::uint32_t>{45}) << core;
    EXPECT_TRUE(done.data(TRACE_RESTART).empty()) << "the kernel has nothing to do with it";
    EXPECT_TRUE(done.data(TRACE_TIMEOUT).empty());
  }
}

TEST(RemoteCall, ItsHandlerAsksForCallsAgain) {
  const ended_run done = run(with(test_program::calls_taken_in_a_handler, 2), "calls in a handler");
  EXPECT_EQ(done.data_of(0, TRACE_VALUE), std::vector<std::uint32_t>{3});
}

TEST(RemoteCall, IsRefusedAtAnotherGroup) {
  for (const std::uint32_t target : {0u, 2u, 0xffffffffu}) {
    settings s = with(test_program::foreign_call, 4);
    s.parameters[PARAM_GROUPS] = 2;
    s.parameters[PARAM_A] = target;
    const ended_run done = run_to_end(folder + "/tests.bin", s, most_cycles, "foreign call");
    EXPECT_EQ(done.status[1], STATUS_TRAP | 7) << target;
    EXPECT_EQ(done.data_of(1, TRACE_TRAP), std::vector<std::uint32_t>{7u << 16 | 0x2c});
    EXPECT_NE(done.console.find("a store to memory that is not there or not its own: 0x2000002c"),
              std::string::npos);
    EXPECT_TRUE(done.data(TRACE_WRONG).empty());
  }
}

// ---- barwait ----

TEST(Barwait, PublishesDataAndReleasesNobodyEarly) {
  for (const unsigned cores : {1u, 2u, 3u, 4u})
    for (const unsigned distance : {0u, 13u}) {
      settings s = with(test_program::episodes, cores);
      s.unit_distance = distance;
      s.parameters[PARAM_DELAY] = 60;
      const ended_run done = run(s, "episodes");
      EXPECT_EQ(tutti::test::check(passages(done.events, 0, done.events.size()), cores, 20), "");
    }
}

TEST(Barwait, IsRestartedAfterInterrupts) {
  settings s = with(test_program::episodes, 4);
  s.parameters[PARAM_DELAY] = 400;
  s.parameters[PARAM_QUANTUM] = 700;
  const ended_run done = run(s, "episodes with a timer");
  EXPECT_EQ(tutti::test::check(passages(done.events, 0, done.events.size()), 4, 20), "");
  EXPECT_GT(done.data(TRACE_RESTART).size(), 10u) << "the timer comes into the waits";
  EXPECT_TRUE(done.data(TRACE_TIMEOUT).empty());
}

TEST(Barwait, TellsAllWhoIsMissingAfterATimeout) {
  settings s = with(test_program::absent_core, 4);
  s.parameters[PARAM_TIMEOUT] = 5000;
  const ended_run done = run(s, "an absent core");
  EXPECT_EQ(done.data(TRACE_BROKEN).size(), 1u) << "one core breaks it for all";
  for (unsigned core = 0; core < 3; ++core) {
    const auto values = done.data_of(core, TRACE_VALUE);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_EQ(values[0], 1u << 16 | 1u << 3) << "broken; core 3 is missing";
    EXPECT_GE(values[1], 5000u) << "not too early";
    EXPECT_LE(values[1], 8000u);
  }
}

TEST(Barwait, IsRefusedAtAForeignBarrier) {
  settings s = with(test_program::foreign_barrier, 4);
  s.parameters[PARAM_GROUPS] = 2;
  const ended_run done = run(s, "a foreign barrier");
  std::vector<std::uint32_t> values = done.data_of(1, TRACE_VALUE);
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values[1], traced(ERROR_OWNER)) << "the barrier of the other group";
  EXPECT_EQ(values[2], traced(ERROR_OWNER)) << "a barrier that does not exist";
  EXPECT_EQ(values[3], traced(ERROR_OWNER)) << "destroys the other group's barrier";
  EXPECT_EQ(values[4], 0u) << "its own still works";
  EXPECT_EQ(done.data(TRACE_DENIED).size(), 2u);
  for (const unsigned core : {0u, 2u, 3u}) EXPECT_EQ(done.data_of(core, TRACE_VALUE).back(), 0u);
}

TEST(Barwait, CreateRefusesWhatCannotWork) {
  const ended_run done = run(with(test_program::refusals, 1), "refusals");
  const std::vector<std::uint32_t> values = done.data_of(0, TRACE_VALUE);
  const std::vector<std::uint32_t> wanted = {
      traced(ERROR_TIMEOUT), traced(ERROR_TIMEOUT), traced(ERROR_LIST), traced(ERROR_LIST),
      traced(ERROR_LIST),    traced(ERROR_LIST),    traced(ERROR_LIST), traced(ERROR_LIST),
      traced(ERROR_OWNER),   traced(ERROR_CALL),    traced(ERROR_CALL), traced(ERROR_FULL)};
  ASSERT_EQ(values.size(), wanted.size() + 4);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(values[i], wanted[i]) << i;
  EXPECT_GE(values[12], 4u) << "barriers of the unit";
  EXPECT_EQ(values[13], 0u) << "destroyed";
  EXPECT_EQ(values[14], 0u) << "the same number again";
  EXPECT_EQ(values[15], 0u) << "alone at a barrier";
}

TEST(Barwait, AListThatChangesWhileTheKernelReadsItDoesNotHurtTheKernel) {
  for (const made_by made : {made_by::create, made_by::create_structure}) {
    settings s = with(test_program::changed_list, 2);
    s.parameters[PARAM_EPISODES] = 100;
    s.parameters[PARAM_A] = static_cast<std::uint32_t>(made);
    run(s, "a list that changes");
  }
}

TEST(Barwait, DestroyLeavesTheDeparturesOfACompleteEpisode) {
  settings s = with(test_program::early_destroy, 2);
  s.parameters[PARAM_EPISODES] = 100;
  s.parameters[PARAM_QUANTUM] = 611;
  run(s, "barriers that are destroyed early");
}

TEST(Barwait, TakesItsBarrierFromX0) {
  const ended_run done = run(with(test_program::barrier_in_x0, 2), "barrier 0, named by x0");
  EXPECT_EQ(done.data_of(0, TRACE_VALUE), (std::vector<std::uint32_t>{0, 1u << 16 | 1u << 1}));
}

// ---- timeouts that a program handles ----

TEST(Timeout, TheHandlerChoosesWhatHappens) {
  constexpr std::uint32_t missing = 1u << 1, broken = 1u << 16 | missing;
  for (const std::uint32_t waits : {0u, 3u, 100u}) {
    settings s = with(test_program::handled_timeout, 2);
    s.parameters[PARAM_TIMEOUT] = 2000;
    s.parameters[PARAM_A] = waits;
    const ended_run done = run(s, "a timeout with a handler");
    // In the handler itself a wait has no handler, and the policy breaks the barrier.
    const std::size_t handled = waits == 100 ? 1 : waits + 1, told = waits == 100 ? 2 : handled;
    EXPECT_EQ(done.data(TRACE_SIGNAL).size(), handled);
    EXPECT_EQ(done.data(TRACE_BROKEN).size(), 2u) << "the second one without the handler";
    const std::vector<std::uint32_t> values = done.data_of(0, TRACE_VALUE);
    ASSERT_EQ(values.size(), told + 4) << waits;
    for (std::size_t i = 0; i < told; ++i) EXPECT_EQ(values[i], missing) << waits;
    EXPECT_EQ(values[told], broken) << waits;
    // The wait in the handler has used its time up, and times out at once.
    EXPECT_GE(values[told + 1], 2000 * handled) << "the same time again";
    EXPECT_LE(values[told + 1], 2000 * handled + 2000 * told) << waits;
    EXPECT_EQ(values[told + 2], broken) << waits;
  }
}

TEST(Timeout, ABarrierIsDestroyedOnceAndOthersKeepTheirDepartures) {
  constexpr std::uint32_t refused = traced(ERROR_OWNER);
  using values = std::vector<std::uint32_t>;
  settings s = with(test_program::destroyed_in_a_handler, 3);
  s.parameters[PARAM_TIMEOUT] = 2000;
  s.parameters[PARAM_A] = 0;
  const ended_run by_handler = run(s, "a handler that destroys its barrier");
  EXPECT_EQ(by_handler.data_of(0, TRACE_VALUE), (values{0, refused, refused}))
      << "it destroys, finds no barrier to destroy, and has given up its departure";
  EXPECT_EQ(by_handler.data_of(1, TRACE_VALUE), values{0});
  EXPECT_EQ(by_handler.data_of(2, TRACE_VALUE), values{0});
  s.parameters[PARAM_A] = 2;
  const ended_run by_last = run(s, "a barrier that is destroyed while others are in handlers");
  EXPECT_EQ(by_last.data_of(0, TRACE_VALUE), values{0});
  EXPECT_EQ(by_last.data_of(1, TRACE_VALUE), values{0});
  EXPECT_EQ(by_last.data_of(2, TRACE_VALUE), (values{0, 0, refused}));
}

TEST(ChangeOver, LosesNoEpisodeAndPassesNoneEarly) {
  for (const unsigned cores : {2u, 3u, 4u}) {
    std::size_t changes = 0, signals = 0;
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      change_run run{.cores = cores, .seed = seed, .episodes = 48};
      if (seed % 2 == 0) run.software = tutti::rtl::algorithm::combining;
      // The timer interrupts the waits, the handlers and the waits in software.
      if (seed == 3) run.quantum = 500 + 37 * seed;
      if (seed == 2) run.unit_distance = 13;
      const change_found found = run_change_over(folder, run);
      changes += found.changes;
      signals += found.signals;
    }
    EXPECT_GE(changes, 3u) << cores << " cores leave the barrier, and come back";
    EXPECT_GT(signals, changes) << "some handlers let the wait go on";
  }
}

// ---- the structures, the mask and the counting unit ----

constexpr made_by wide[] = {made_by::create_structure, made_by::open_mask};

TEST(Structure, PublishesDataAndReleasesNobodyEarly) {
  for (const made_by how : wide)
    for (const unsigned sockets : {1u, 2u}) {
      if (!is_built(4, sockets)) continue;
      for (const unsigned distance : {0u, 13u}) {
        settings s = with(test_program::episodes, 4, sockets);
        s.unit_distance = distance;
        s.parameters[PARAM_DELAY] = 60;
        s.parameters[PARAM_A] = static_cast<std::uint32_t>(how);
        const ended_run done = run(s, "episodes");
        EXPECT_EQ(tutti::test::check(passages(done.events, 0, done.events.size()), 4, 20), "");
        EXPECT_GE(done.data(TRACE_VALUE).at(0), 128u) << "the barrier is none of the socket's unit";
      }
    }
}

TEST(Structure, CreateOverSocketsMakesOne) {
  if (!is_built(4, 2)) GTEST_SKIP() << "no machine of two sockets is built";
  const ended_run done = run(with(test_program::episodes, 4, 2), "episodes over sockets");
  EXPECT_EQ(tutti::test::check(passages(done.events, 0, done.events.size()), 4, 20), "");
  EXPECT_EQ(done.data(TRACE_VALUE).at(0), 128u);
}

TEST(Structure, WaitsAreRestartedAfterInterrupts) {
  for (const made_by how : wide)
    for (const unsigned distance : {0u, 40u}) {
      settings s = with(test_program::episodes, 4, is_built(4, 2) ? 2 : 1);
      s.unit_distance = distance;
      s.parameters[PARAM_DELAY] = 400;
      s.parameters[PARAM_QUANTUM] = 700;
      s.parameters[PARAM_A] = static_cast<std::uint32_t>(how);
      const ended_run done = run(s, "episodes with a timer");
      EXPECT_EQ(tutti::test::check(passages(done.events, 0, done.events.size()), 4, 20), "");
      EXPECT_GT(done.data(TRACE_RESTART).size(), 10u) << "the timer comes into the waits";
    }
}

TEST(Structure, AfterATimeoutTellsWhoIsMissingAndWaitsOn) {
  settings s = with(test_program::late_core, 4);
  s.parameters[PARAM_TIMEOUT] = 5000;
  s.parameters[PARAM_DELAY] = 5000;
  s.parameters[PARAM_A] = static_cast<std::uint32_t>(made_by::create_structure);
  const ended_run done = run(s, "a late core");
  for (unsigned core = 0; core < 3; ++core) {
    EXPECT_EQ(done.data_of(core, TRACE_VALUE).at(0), 0u) << "all depart";
    EXPECT_GE(done.data_of(core, TRACE_VALUE).at(1), 14'000u) << "after the late one";
    const auto missing = done.data_of(core, TRACE_TIMEOUT);
    ASSERT_GE(missing.size(), 2u) << "each timeout is told";
    EXPECT_LE(missing.size(), 3u);
    for (const std::uint32_t m : missing) EXPECT_EQ(m, 1u << 3);
  }
  EXPECT_TRUE(done.data_of(3, TRACE_TIMEOUT).empty());
}

TEST(Structure, CreateRefusesWhatCannotWork) {
  const ended_run done = run(with(test_program::structure_refusals, 2), "refusals");
  const std::vector<std::uint32_t> wanted = {
      traced(ERROR_TIMEOUT), traced(ERROR_LIST), traced(ERROR_LIST), traced(ERROR_LIST),
      traced(ERROR_OWNER), traced(ERROR_CALL), traced(ERROR_LIST), traced(ERROR_LIST),
      // The mask unit: not open, opened, open already, a wait.
      traced(ERROR_OWNER), 0, traced(ERROR_FULL), 0,
      // A barrier of one, destroyed, gone, made again, used; then all eight.
      0, 0, traced(ERROR_OWNER), 0, 0, traced(ERROR_FULL), 8};
  EXPECT_EQ(done.data_of(0, TRACE_VALUE), wanted);
  // Another's barrier, one that does not exist, and the mask unit without taking part.
  EXPECT_EQ(done.data_of(1, TRACE_VALUE), std::vector<std::uint32_t>(3, traced(ERROR_OWNER)));
}

// ---- tutti's algorithms ----

TEST(Conformance, TheProgramsKnowEveryAlgorithmOfTheRegistry) {
  std::set<std::string> known(std::begin(tutti::rtl::algorithm_names),
                              std::end(tutti::rtl::algorithm_names));
  EXPECT_EQ(known.size(), tutti::rtl::algorithm_count);
  for (const auto& entry : tutti::algorithms)
    EXPECT_TRUE(known.contains(std::string(entry.name)))
        << entry.name << " is missing in hardware/machine/software/algorithms.hpp";
}

TEST(Conformance, HoldsForAllAlgorithmsAndSizes) {
  const settings any_model = with(test_program::ticks, 4);
  const std::size_t cases = check_conformance(
      folder, {.cores = 4, .episodes = 6, .delay = 100, .ideal = any_model.ideal});
  // 1, 2, 3 and 4 participants.
  EXPECT_EQ(cases, 4 * tutti::rtl::algorithm_count);
}

TEST(Conformance, HoldsOverTwoSockets) {
  if (!is_built(4, 2)) GTEST_SKIP() << "no machine of two sockets is built";
  EXPECT_EQ(
      check_conformance(
          folder,
          {.cores = 4, .sockets = 2, .episodes = 6, .delay = 100, .seed = 2, .participants = 4}),
      tutti::rtl::algorithm_count);
}

TEST(Conformance, RefusesWhatIsNoBarrier) {
  const settings any_model = with(test_program::ticks, 4);
  EXPECT_THROW(
      check_conformance(
          folder,
          {.cores = 4, .delay = 100, .participants = 4, .mutant = true, .ideal = any_model.ideal}),
      std::runtime_error);
}

TEST(Bench, MeasuresEveryScenario) {
  const settings any_model = with(test_program::ticks, 4);
  for (const std::uint32_t who : {static_cast<std::uint32_t>(tutti::rtl::algorithm::central),
                                  static_cast<std::uint32_t>(tutti::rtl::contender::barwait),
                                  static_cast<std::uint32_t>(tutti::rtl::contender::structure),
                                  static_cast<std::uint32_t>(tutti::rtl::contender::mask),
                                  static_cast<std::uint32_t>(tutti::rtl::contender::counting)})
    for (const scenario s : {scenario::back_to_back, scenario::late, scenario::together}) {
      const figures f = measure_barrier(
          folder, {.contender = who, .scenario = s, .cores = 4, .ideal = any_model.ideal});
      EXPECT_GE(f.median, 4) << name_of_contender(who) << ", " << name_of(s);
      EXPECT_LT(f.median, 2000) << name_of_contender(who) << ", " << name_of(s);
    }
}

TEST(Bench, EachThreadIsLateInItsTurn) {
  for (const unsigned cores : {2u, 3u, 4u}) {
    settings s = with(test_program::ticks, cores);
    s.parameters[PARAM_PROGRAM] = static_cast<std::uint32_t>(scenario::late);
    s.parameters[PARAM_EPISODES] = cores;
    s.parameters[PARAM_ALGORITHM] = static_cast<std::uint32_t>(tutti::rtl::algorithm::central);
    s.parameters[PARAM_DELAY] = 1000;
    const ended_run done = run_well(folder + "/bench.bin", s, most_cycles, "one thread late");
    std::map<std::uint32_t, unsigned> last;
    for (const event& e : done.events)
      if (e.tag == TRACE_ARRIVE) last[e.data] = e.core;
    std::set<unsigned> late;
    for (const auto& [episode, core] : last) late.insert(core);
    EXPECT_EQ(late.size(), cores);
  }
}

TEST(Bench, MeasuresBarwaitOverTwoSockets) {
  if (!is_built(4, 2)) GTEST_SKIP() << "no machine of two sockets is built";
  constexpr auto barwait = static_cast<std::uint32_t>(tutti::rtl::contender::barwait);
  const auto last_to_last = [&](unsigned sockets) {
    return measure_barrier(
               folder,
               {.contender = barwait, .scenario = scenario::late, .cores = 4, .sockets = sockets})
        .median;
  };
  EXPECT_GT(last_to_last(2), last_to_last(1) + 100) << "the links are on the way";
}

TEST(Costs, GrowWithTheDistance) {
  if (!is_built(4, 2)) GTEST_SKIP() << "no machine of two sockets is built";
  const auto load = [&](tutti::rtl::cost what, unsigned other) {
    // The least: consecutive lines have their homes in both sockets, and a line whose home is in
    // the other socket crosses the link in any case.
    return measure_cost(folder, {.what = what, .cores = 4, .sockets = 2, .other = other}).min;
  };
  const double hit = load(tutti::rtl::cost::load_hit, 1);
  const double neighbour = load(tutti::rtl::cost::load_dirty, 1);
  const double next_socket = load(tutti::rtl::cost::load_dirty, 2);
  EXPECT_EQ(hit, 2);
  EXPECT_GT(neighbour, 5 * hit);
  EXPECT_GT(next_socket, 1.5 * neighbour);
}

// The cycles of the hits are those of sim/memory_cycles.jsonl. A line of another core's is there as
// fast for reading and writing, and an addition takes a cycle more.
TEST(Costs, AreThoseOfTheAccessAlone) {
  const auto of = [&](tutti::rtl::cost what) {
    return measure_cost(folder, {.what = what, .cores = 2, .other = 1}).median;
  };
  EXPECT_EQ(of(tutti::rtl::cost::load_hit), 2);
  EXPECT_EQ(of(tutti::rtl::cost::store_hit), 2);
  EXPECT_EQ(of(tutti::rtl::cost::add_hit), 3);
  const double load = of(tutti::rtl::cost::load_dirty);
  EXPECT_EQ(of(tutti::rtl::cost::store_dirty), load);
  EXPECT_EQ(of(tutti::rtl::cost::add_dirty), load + 1);
  EXPECT_EQ(of(tutti::rtl::cost::invalidate), of(tutti::rtl::cost::store_shared));
}

}  // namespace
