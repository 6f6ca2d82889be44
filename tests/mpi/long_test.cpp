// SPDX-License-Identifier: Apache-2.0
// Up to a million episodes in one communicator: counters that wrap and requests that leak show
// late. (Open MPI had a collective that hung after 2^24 rounds.)
#include <tuple>

#include "tests/mpi/launched.hpp"

namespace tutti::test {
namespace {

struct shape {
  family by;
  int processes;
  std::string transport;
  std::string detector;
  std::string episodes = "million";
};

class many : public testing::TestWithParam<shape> {};

TEST_P(many, episodes_come_to_an_end) {
  const shape& s = GetParam();
  TUTTI_SKIP_WITHOUT(s.by);
  start how{s.by, s.processes};
  how.seconds = 1500;
  expect_all_held(run_launched(how, worker(1, s.transport, s.detector, s.episodes)));
}

INSTANTIATE_TEST_SUITE_P(
    mpi, many,
    testing::Values(shape{open_mpi, 2, "auto", "star"}, shape{open_mpi, 4, "auto", "star"},
                    shape{open_mpi, 2, "mpi", "star"}, shape{open_mpi, 4, "mpi", "star"},
                    shape{mpich, 2, "auto", "star"}, shape{mpich, 4, "auto", "star"},
                    shape{mpich, 2, "mpi", "tree"},
                    // MPICH's ranks poll, each in a session of its own: with 4 ranks on 2 CPUs an
                    // episode takes milliseconds.
                    shape{mpich, 4, "mpi", "star", "hundred_thousand"}),
    [](const auto& s) {
      return s.param.by.name + "_" + std::to_string(s.param.processes) + "_" + s.param.transport +
             "_" + s.param.detector;
    });

std::string name_of_family(const testing::TestParamInfo<family>& of) { return of.param.name; }

class of_family : public testing::TestWithParam<family> {
  void SetUp() override { TUTTI_SKIP_WITHOUT(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(mpi, of_family, testing::Values(open_mpi, mpich), name_of_family);

// The participants of a process, or the processes, are not a whole subtree of the fold; all
// detectors.
TEST_P(of_family, values_have_the_bits_of_all_reductions_in_every_shape) {
  const family& by = GetParam();
  for (const char* detector : {"star", "tree", "ring", "waves"})
    for (const int threads : {2, 3, 5})
      expect_all_held(
          run_launched({by, 3}, worker(threads, "mpi", detector, "values mismatched groups")));
  expect_all_held(run_launched({by, 3}, worker(3, "auto", "star", "values mismatched groups")));
}

// A hundred random programs, each with another seed.
std::string programs() {
  std::string many;
  for (int i = 0; i < 100; ++i) many += "stress ";
  return many;
}

TEST_P(of_family, random_programs_hold_in_shared_memory) {
  start how{GetParam(), 4};
  how.seconds = 1200;
  expect_all_held(run_launched(how, worker(2, "auto", "star", programs())));
}

class random_programs : public testing::TestWithParam<std::tuple<family, std::string>> {};

INSTANTIATE_TEST_SUITE_P(mpi, random_programs,
                         testing::Combine(testing::Values(open_mpi, mpich),
                                          testing::Values("star", "tree", "ring", "waves")),
                         [](const auto& of) {
                           return std::get<0>(of.param).name + "_" + std::get<1>(of.param);
                         });

TEST_P(random_programs, hold) {
  const auto& [by, detector] = GetParam();
  TUTTI_SKIP_WITHOUT(by);
  start how{by, 3};
  how.seconds = 850;
  expect_all_held(run_launched(how, worker(1, "mpi", detector, programs(), 1024)));
  expect_all_held(run_launched(how, worker(2, "mpi", detector, programs())));
  expect_all_held(run_launched(how, worker(2, "auto/2", detector, programs())));
}

// Sixteen processes on few cores run fewer episodes, each of which needs every process to get a
// core.
TEST_P(of_family, all_scenarios_hold_oversubscribed) {
  for (const char* transport : {"auto", "mpi", "auto/5"}) {
    start how{GetParam(), 16};
    how.seconds = 850;
    expect_all_held(run_launched(how, worker(1, transport, "tree",
                                             "episodes flood hold token empty votes values "
                                             "groups late holder own overtaken stuck")));
  }
}

}  // namespace
}  // namespace tutti::test
