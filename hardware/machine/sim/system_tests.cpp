// SPDX-License-Identifier: Apache-2.0
// Tests the machine itself: devices, permissions and interrupts, what cores see of each other's
// accesses, and what the harness says when a run makes no progress. TUTTI_MACHINE_IMAGES is the
// folder of the images.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "hardware/machine/sim/system.hpp"
#include "hardware/machine/software/interface.h"

namespace {

using tutti::machine::event;
using tutti::machine::settings;
using simulated = tutti::machine::system;

const std::string folder = TUTTI_MACHINE_IMAGES;

std::vector<std::uint32_t> data_of(const simulated& m, unsigned core, unsigned tag) {
  std::vector<std::uint32_t> found;
  for (const event& e : m.events())
    if (e.core == core && e.tag == tag) found.push_back(e.data);
  return found;
}

settings of(unsigned cores, unsigned sockets, unsigned program = 0) {
  settings s;
  s.cores = cores;
  s.sockets = sockets;
  s.parameters[PARAM_PROGRAM] = program;
  return s;
}

// ---- devices ----

constexpr std::uint32_t none = 0xff;

TEST(Devices, ArePermittedAsTheMapSays) {
  simulated m(folder + "/devices.bin", of(4, 2));
  m.interrupts({{60'000, 0}});
  ASSERT_TRUE(m.run(100'000)) << m.who_waits_for_what();
  const std::vector<std::uint32_t> values = data_of(m, 0, TRACE_VALUE);
  // In the order of `accesses` in devices.S.
  const std::vector<std::uint32_t> wanted = {
      none, none, 7, none,           // the core's number, in both modes; the socket
      none, 5,    7,                 // the own software interrupt
      5,    7,    7,                 // another core's: no load, no core 64, not in user mode
      none, none, 7,                 // mtime
      5,    none, 7,                 // mtimecmp, the external interrupt
      5,    7,    7, 5,    7,        // remote calls: no load, no core 64, to nobody, not the mask
      none, none, 7, 7,              // the mask of cores 1 to 3, and calls to 1, 0, and all
      none, none,                    // the mask of all four, and a call to all others
      5,                             // nothing
      5,    none,                    // the trace and the console
      5,    7,    7, 4,    5,        // words only, no atomics
      none, 7,    5, none, 5,        // the image
      5,    none, 5, 7,    5,        // the kernel's part of the RAM
      none, 4,    6, none, 5, 7, 7,  // the rest of the RAM, and behind it
  };
  // Then three cores, the timer, and the external interrupt twice.
  ASSERT_EQ(values.size(), wanted.size() + 6);
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(values[i], wanted[i]) << "access " << i;
  EXPECT_EQ(m.console(), "x");

  const std::uint32_t near = values[wanted.size()], far = values[wanted.size() + 1];
  EXPECT_EQ(far - near, 75u - 20u) << "InterruptFar and InterruptNear";
  EXPECT_GE(near, 20u);
  EXPECT_LE(near, 28u);
  EXPECT_EQ(values[wanted.size() + 2], far) << "cores 2 and 3 are in the other socket";
  EXPECT_LE(values[wanted.size() + 3], 6u) << "the timer's handler runs at once";
  EXPECT_EQ(values[wanted.size() + 4], 0x800u);
  EXPECT_EQ(values[wanted.size() + 5], 0u) << "the program has cleared it";
}

// ---- what cores see ----

TEST(Memory, IsSequentiallyConsistent) {
  for (const unsigned sockets : {1u, 2u})
    for (const std::uint32_t seed : {1u, 2u}) {
      settings s = of(4, sockets);
      s.parameters[PARAM_EPISODES] = 40;
      s.parameters[PARAM_SEED] = seed;
      simulated m(folder + "/litmus.bin", s);
      ASSERT_TRUE(m.run(5'000'000)) << m.who_waits_for_what();
      for (unsigned core = 0; core < 4; ++core) {
        EXPECT_EQ(m.status(core), 0u);
        EXPECT_TRUE(data_of(m, core, TRACE_WRONG).empty()) << "test " << data_of(m, core, 5)[0];
      }
      const auto occurred = data_of(m, 0, TRACE_VALUE);
      ASSERT_EQ(occurred.size(), 6u);
      // The races are real: in these tests more than one result has occurred.
      for (const std::size_t t : {0u, 1u, 2u, 3u, 5u})
        EXPECT_NE(occurred[t] & (occurred[t] - 1), 0u)
            << "test " << t << ": always the same result";
    }
}

// ---- no progress ----

std::string what_a_stalled_run_says(const settings& s) {
  simulated m(folder + "/litmus.bin", s);
  try {
    m.run(10'000'000);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it ended, or made progress";
}

TEST(Stalled, SaysWhoWaitsAtWhichBarrierForWhom) {
  settings s = of(4, 1, 1);
  s.patience = 20'000;
  const std::string said = what_a_stalled_run_says(s);
  EXPECT_NE(said.find("no core has retired an instruction for 20000 cycles"), std::string::npos)
      << said;
  EXPECT_NE(said.find("waits in barrier 0 of its socket for core 3 for 2"), std::string::npos)
      << said;
  EXPECT_NE(said.find("core 3, pc 0x"), std::string::npos) << said;
  EXPECT_NE(said.find(": waits for an interrupt for 2"), std::string::npos) << said;
}

TEST(Stalled, SaysWhereProgramsSpin) {
  settings s = of(2, 1, 2);
  s.silence = 50'000;
  const std::string said = what_a_stalled_run_says(s);
  EXPECT_NE(said.find("no program has reported anything for 50000 cycles"), std::string::npos)
      << said;
  EXPECT_NE(said.find("load at 0x800"), std::string::npos) << said;
}

// ---- misuse of the harness ----

TEST(Settings, AreRefusedWithASentence) {
  const auto said = [](const settings& s, const std::string& image = folder + "/litmus.bin") {
    try {
      simulated m(image, s);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(said(of(2, 5)), "sockets: 5 is not in 1 to 4");
  EXPECT_EQ(said(of(3, 2)), "cores: 3 cannot be the same in 2 sockets");
  EXPECT_TRUE(said(of(99, 1)).starts_with("no model has 99 cores in 1 sockets; this build has "));
  settings s = of(2, 1);
  s.unit_distance = 64;
  EXPECT_EQ(said(s), "unit_distance: 64 is not in 0 to 63");
  s.unit_distance = 63;
  s.unit_link = 1024;
  EXPECT_EQ(said(s), "unit_link: 1024 is not in 1 to 1023");
  EXPECT_EQ(said(of(2, 1), "/no/such/image"), "/no/such/image: cannot be read");
  simulated m(folder + "/litmus.bin", of(2, 1));
  EXPECT_THROW(m.interrupts({{10, 2}}), std::invalid_argument);
}

TEST(Reset, StartsTheProgramAgain) {
  simulated m(folder + "/devices.bin", of(2, 1));
  m.interrupts({{60'000, 0}});
  ASSERT_TRUE(m.run(100'000)) << m.who_waits_for_what();
  const std::vector<event> first = m.events();
  m.reset();
  EXPECT_TRUE(m.events().empty());
  EXPECT_FALSE(m.ended(0));
  m.step(500);
  ASSERT_FALSE(m.events().empty());
  EXPECT_EQ(m.events()[0].cycle, first[0].cycle);
  EXPECT_EQ(m.events()[0].data, first[0].data);
}

// A reset comes into accesses of the old program, which must leave nothing behind in the caches.
TEST(Reset, OfOneCycleIsAsGoodAsOfTwo) {
  const auto instructions_with = [](unsigned cycles) {
    std::vector<std::uint64_t> found;
    simulated m(folder + "/tests.bin", of(4, 1));
    for (std::uint64_t before = 20; before < 620; before += 7) {
      m.step(before);
      m.reset(cycles);
      m.step(500);
      for (unsigned core = 0; core < 4; ++core) found.push_back(m.instructions(core));
    }
    return found;
  };
  EXPECT_EQ(instructions_with(1), instructions_with(2));
}

}  // namespace
