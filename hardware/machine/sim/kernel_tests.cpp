// SPDX-License-Identifier: Apache-2.0
// The kernel of kernel/ on the machine: its own checks, with the sources that run on x86-64.
// TUTTI_MACHINE_IMAGES is the folder of the images.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "hardware/machine/sim/kernel_run.hpp"
#include "hardware/machine/sim/model.hpp"
#include "hardware/machine/sim/system.hpp"

namespace {

using namespace tutti::machine;

const std::string folder = TUTTI_MACHINE_IMAGES;

std::string run(unsigned cores, unsigned sockets, const std::string& line) {
  return run_kernel(folder, {.cores = cores, .sockets = sockets, .line = line});
}

void expect_checked(const std::string& said, const std::string& program) {
  EXPECT_NE(said.find("\"program\":\"" + program + "\""), std::string::npos) << said;
  EXPECT_NE(said.find("\"failed\":0}"), std::string::npos) << said;
}

// Broadcasts that each core counts once, many senders at once with several actions, levels, actions
// that are removed, and misuse; told by interrupts and by remote calls.
TEST(Kernel, EventsArriveOnceAtTheirActions) {
  expect_checked(run(4, 2, "program=check-events posts=300 broadcasts=10"), "check-events");
}

// Mutexes, broadcasts, time, memory, and signals of condition variables with and without kick.
TEST(Kernel, ThreadsLoseNoWakeUp) {
  expect_checked(run(2, 1, "program=check-threads wakeups=150"), "check-threads");
}

TEST(Kernel, ARunThatFailsIsNamed) {
  try {
    run(2, 1, "program=nothing");
    FAIL() << "an unknown program ran";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("names no program of this image"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(settings().command_line(std::string(128, 'x')), std::invalid_argument);
}

}  // namespace
