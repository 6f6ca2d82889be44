// SPDX-License-Identifier: Apache-2.0
// A million episodes in one communicator: counters that wrap and requests that leak show late.
// (Open MPI had a collective that hung after 2^24 rounds.)
#include "tests/mpi/launched.hpp"

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
                    shape{open_mpi, 2, "mpi", "star"}, shape{open_mpi, 4, "mpi", "star"},
                    shape{mpich, 2, "auto", "star"}, shape{mpich, 4, "auto", "star"},
                    shape{mpich, 2, "mpi", "tree"}, shape{mpich, 4, "mpi", "star"}),
    [](const auto& s) {
      return s.param.by.name + "_" + std::to_string(s.param.processes) + "_" + s.param.transport +
             "_" + s.param.detector;
    });

// The participants of a process, or the processes, are not a whole subtree of the fold; all
// detectors.
TEST(values, have_the_bits_of_all_reductions_in_every_shape) {
  for (const family& by : {open_mpi, mpich}) {
    if (by.launcher.empty()) continue;
    for (const char* detector : {"star", "tree", "ring", "waves"})
      for (const int threads : {2, 3, 5})
        expect_all_held(
            run_launched({by, 3}, worker(threads, "mpi", detector, "values mismatched groups")));
    expect_all_held(run_launched({by, 3}, worker(3, "auto", "star", "values mismatched groups")));
  }
}

// Random programs, each with another seed.
TEST(random, programs_hold) {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "stress ";
  for (const family& by : {open_mpi, mpich}) {
    if (by.launcher.empty()) continue;
    for (const char* detector : {"star", "tree", "ring", "waves"}) {
      start how{by, 3};
      how.seconds = 600;
      expect_all_held(run_launched(how, worker(1, "mpi", detector, many, 1024)));
      expect_all_held(run_launched(how, worker(2, "mpi", detector, many)));
    }
    expect_all_held(run_launched({by, 4}, worker(2, "auto", "star", many)));
  }
}

// Sixteen processes on few cores run fewer episodes, each of which needs every process to get a
// core.
TEST(oversubscribed, all_scenarios_hold) {
  for (const family& by : {open_mpi, mpich}) {
    if (by.launcher.empty()) continue;
    for (const char* transport : {"auto", "mpi"}) {
      start how{by, 16};
      how.seconds = 600;
      expect_all_held(run_launched(how, worker(1, transport, "tree",
                                               "episodes flood hold token empty votes values "
                                               "groups late holder own overtaken stuck")));
    }
  }
}

}  // namespace
}  // namespace tutti::test
