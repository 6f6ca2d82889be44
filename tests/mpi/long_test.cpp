// SPDX-License-Identifier: Apache-2.0
// A million episodes in one communicator: counters that wrap, requests that leak, and the like show late. (Open MPI had a
// collective that hung after 2^24 rounds.)
#include "launched.hpp"

namespace tutti::test {
namespace {

struct shape {
  family by;
  int processes;
  std::string transport;
  std::string detector;
};

class million : public testing::TestWithParam<shape> {};

TEST_P(million, episodes_come_to_an_end) {
  const shape& s = GetParam();
  TUTTI_SKIP_WITHOUT(s.by);
  start how{s.by, s.processes};
  how.seconds = 900;
  expect_all_held(run_launched(how, worker(1, s.transport, s.detector, "million")));
}

INSTANTIATE_TEST_SUITE_P(
    mpi, million,
    testing::Values(shape{open_mpi, 2, "auto", "star"}, shape{open_mpi, 4, "auto", "star"},
                    shape{open_mpi, 2, "mpi", "star"}, shape{mpich, 2, "auto", "star"},
                    shape{mpich, 2, "mpi", "tree"}, shape{mpich, 4, "mpi", "star"}),
    [](const auto& s) {
      return s.param.by.name + "_" + std::to_string(s.param.processes) + "_" + s.param.transport +
             "_" + s.param.detector;
    });

// Sixteen on few cores: fewer episodes, each of which needs every process to get a core.
TEST(oversubscribed, all_scenarios_hold) {
  for (const family& by : {open_mpi, mpich}) {
    if (by.launcher.empty()) continue;
    for (const char* transport : {"auto", "mpi"}) {
      start how{by, 16};
      how.seconds = 600;
      expect_all_held(run_launched(
          how, worker(1, transport, "tree",
                      "episodes flood hold token empty votes values groups late holder")));
    }
  }
}

}  // namespace
}  // namespace tutti::test
