// SPDX-License-Identifier: Apache-2.0
// A peer in a process of its own: same rounds, and asleep between them.
#include "bench/harness/worker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/harness/placement.hpp"

namespace tutti::bench {
namespace {

// Clock ticks of processor time that a process has used.
long processor_ticks(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 11; ++i) fields >> field;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

round_request request_for_two() {
  round_request request;
  const placement cores = make_placement("core");
  request.cpus = {cores.cpu_of(0), cores.cpu_of(1)};
  request.own_cores = cores.cpus.size() >= 2;
  return request;
}

TEST(Worker, RunsRoundsAndSleepsBetweenThem) {
  // Spins for ever in its barriers if it is let.
  worker peer({TUTTI_TEST_WORKER}, {{"OMP_WAIT_POLICY", "active"}});
  EXPECT_EQ(peer.check(request_for_two()), "");
  const round_outcome outcome = peer.run(request_for_two());
  ASSERT_EQ(outcome.samples.size(), 1u);
  EXPECT_GT(outcome.samples[0], 0);
  const long before = processor_ticks(peer.pid());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LE(processor_ticks(peer.pid()) - before, 2);
}

TEST(Worker, AMissingProgramIsAnError) {
  EXPECT_THROW(
      {
        worker peer({"/nonexistent/tutti-peer"}, {});
        peer.run(request_for_two());
      },
      std::runtime_error);
}

TEST(Worker, AProgramThatEndsIsAnError) {
  EXPECT_THROW(
      {
        worker peer({"/bin/true"}, {});
        peer.run(request_for_two());
      },
      std::runtime_error);
}

}  // namespace
}  // namespace tutti::bench
