// SPDX-License-Identifier: Apache-2.0
// Runs all scenarios on processes of both MPIs: in shared memory and as packets of MPI, with one
// and several threads per process, and with more processes than cores. Tests errors before and
// during a run.
#include "tests/mpi/launched.hpp"

#include <algorithm>

namespace tutti::test {
namespace {

const std::string all =
    "episodes sizes flood press inside hold unsent token empty votes values mismatched groups "
    "refused left departed";

struct shape {
  family by;
  int processes;
  int threads;
  std::string transport;
  std::string detector;
  int packet_bytes = 16384;
};

std::string name_of(const testing::TestParamInfo<shape>& info) {
  const shape& s = info.param;
  std::string transport = s.transport;
  std::replace(transport.begin(), transport.end(), '/', '_');
  return s.by.name + "_" + std::to_string(s.processes) + "x" + std::to_string(s.threads) + "_" +
         transport + "_" + s.detector;
}

class launched : public testing::TestWithParam<shape> {};

TEST_P(launched, all_scenarios_hold) {
  const shape& s = GetParam();
  TUTTI_SKIP_WITHOUT(s.by);
  expect_all_held(run_launched({s.by, s.processes},
                               worker(s.threads, s.transport, s.detector, all, s.packet_bytes)));
}

// "auto" is shared memory here, and "auto/2" rings between two processes and packets between those
// and the others. Packets of 1 KiB are far smaller than many messages.
INSTANTIATE_TEST_SUITE_P(
    mpi, launched,
    testing::Values(shape{open_mpi, 1, 1, "auto", "star"}, shape{open_mpi, 2, 1, "auto", "star"},
                    shape{open_mpi, 4, 1, "mpi", "star"},
                    shape{open_mpi, 2, 2, "mpi", "tree", 1024}, shape{mpich, 1, 2, "mpi", "star"},
                    shape{mpich, 2, 1, "mpi", "waves"}, shape{mpich, 2, 2, "auto", "star"},
                    shape{mpich, 2, 1, "mpi", "ring", 1024}, shape{open_mpi, 3, 1, "mpi", "ring"},
                    shape{open_mpi, 4, 1, "auto/2", "star"},
                    shape{open_mpi, 3, 2, "auto/2", "ring", 1024},
                    shape{mpich, 2, 2, "auto/1", "tree"}),
    name_of);

class either : public testing::TestWithParam<family> {};
INSTANTIATE_TEST_SUITE_P(mpi, either, testing::Values(open_mpi, mpich),
                         [](const auto& which) { return which.param.name; });

// long_test.cpp has the other transports.
TEST_P(either, sixteen_processes_on_few_cores_come_to_an_end) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string transport = GetParam().is_open_mpi() ? "mpi" : "auto";
  expect_all_held(
      run_launched({GetParam(), 16}, worker(1, transport, "star", "episodes empty values")));
}

// The participants of a process are not a whole subtree of the fold.
TEST_P(either, sums_have_the_bits_of_all_reductions_in_every_shape) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string scenarios = "values mismatched groups";
  const char* const detector = GetParam().is_open_mpi() ? "ring" : "tree";
  expect_all_held(run_launched({GetParam(), 2}, worker(3, "mpi", detector, scenarios)));
  expect_all_held(run_launched({GetParam(), 2}, worker(5, "mpi", "star", scenarios)));
}

// Threads and processes of a node have rings; the rest is packets.
TEST_P(either, messages_within_a_node_do_not_go_to_mpi) {
  TUTTI_SKIP_WITHOUT(GetParam());
  expect_all_held(run_launched({GetParam(), 4}, worker(1, "auto/2", "star", "near")));
  expect_all_held(run_launched({GetParam(), 2}, worker(2, "auto/1", "waves", "near", 2048)));
  expect_all_held(run_launched({GetParam(), 3}, worker(2, "auto/2", "tree", "near values groups")));
}

// long_test.cpp runs more of them.
TEST_P(either, random_programs_hold) {
  TUTTI_SKIP_WITHOUT(GetParam());
  expect_all_held(run_launched({GetParam(), 3}, worker(1, "auto", "star", "stress active")));
  expect_all_held(run_launched({GetParam(), 2}, worker(2, "mpi", "tree", "stress active", 2048)));
  expect_all_held(run_launched({GetParam(), 3}, worker(1, "mpi", "ring", "stress")));
  expect_all_held(
      run_launched({GetParam(), 3}, worker(2, "auto/2", "star", "stress active", 2048)));
}

TEST_P(either, who_is_late_or_holds_a_message_is_named) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string transport = GetParam().is_open_mpi() ? "auto" : "mpi";
  expect_all_held(
      run_launched({GetParam(), 3}, worker(1, transport, "tree", "late both_late holder own")));
}

TEST_P(either, a_deadline_leaves_episodes_and_large_messages_as_they_are) {
  TUTTI_SKIP_WITHOUT(GetParam());
  for (const char* transport : {"auto", "mpi", "auto/2"})
    expect_all_held(
        run_launched({GetParam(), 3}, worker(1, transport, "star", "own overtaken stuck")));
  const char* const detector = GetParam().is_open_mpi() ? "waves" : "tree";
  expect_all_held(run_launched({GetParam(), 2}, worker(2, "mpi", detector, "own overtaken")));
}

// Open MPI's launcher is told not to end the others. MPICH's (Hydra 4.0.2) cannot be told: 2 ms
// after a signal has ended a process it kills the others. A shell between the two delays the news
// for a while.
TEST_P(either, a_killed_process_is_named_to_the_others) {
  TUTTI_SKIP_WITHOUT(GetParam());
  for (const char* transport : {"auto", "mpi"}) {
    const std::string command = worker(1, transport, "star", "killed");
    const output result =
        GetParam().is_open_mpi()
            ? run_launched({GetParam(), 3, "--enable-recovery", "", 60}, command)
            : run_launched({GetParam(), 3, "", "", 60}, "sh -c '" + command + "; sleep 3'");
    EXPECT_NE(result.text.find("process 0 saw the death"), std::string::npos) << result.text;
    EXPECT_NE(result.text.find("process 1 saw the death"), std::string::npos) << result.text;
    EXPECT_EQ(result.text.find("not named"), std::string::npos) << result.text;
  }
}

// There is no shell here: a process that had no time to see the death dies as well, but not
// silently.
TEST(mpich, its_launcher_tells_that_a_process_was_killed) {
  TUTTI_SKIP_WITHOUT(mpich);
  for (const char* options : {"", "-disable-auto-cleanup"}) {
    const output result =
        run_launched({mpich, 3, options, "", 60}, worker(1, "mpi", "star", "killed"));
    EXPECT_NE(result.status, 0) << result.text;
    EXPECT_NE(result.status, 124) << "still there after a minute\n" << result.text;
  }
}

TEST_P(either, a_program_that_links_its_own_mpi_uses_it) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string program = std::string(TUTTI_MPI_WORKER);
  const std::string folder = program.substr(0, program.rfind('/'));
  const output result = run_launched({GetParam(), 2}, folder + "/mpi_linked_" + GetParam().name);
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text.find("sum 3 of 4 participants"), std::string::npos) << result.text;
}

// --- before MPI runs -----------------------------------------------------------------------------

std::string sentence_of(const std::string& environment) {
  const output result = run_shell("env " + environment + " timeout 20 " +
                                  worker(1, "auto", "star", "empty") + " 2>&1");
  EXPECT_EQ(result.status, 2) << result.text;
  return result.text;
}

TEST(launch, without_a_launcher_it_says_so) {
  EXPECT_EQ(sentence_of(""), "no launcher of MPI has started this program\n");
}

TEST(launch, an_environment_that_contradicts_itself_is_refused) {
  EXPECT_EQ(sentence_of("PMI_SIZE=2 PMI_RANK=2"), "tutti: PMI_RANK is 2, but PMI_SIZE is only 2\n");
  EXPECT_EQ(sentence_of("PMI_SIZE=two PMI_RANK=0"),
            "tutti: PMI_SIZE is 'two'; it must be a number of at least 1\n");
  EXPECT_EQ(sentence_of("OMPI_COMM_WORLD_SIZE=4"),
            "tutti: the launcher of MPI has not set OMPI_COMM_WORLD_RANK\n");
}

// The launcher of one MPI and the library of the other: each process would be alone and never know.
TEST(launch, the_launcher_of_another_mpi_is_noticed) {
  TUTTI_SKIP_WITHOUT(open_mpi);
  TUTTI_SKIP_WITHOUT(mpich);
  const output result =
      run_launched({mpich, 2, "", "env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0"},
                   worker(1, "auto", "star", "empty"));
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.text.find("launchers of two MPIs"), std::string::npos) << result.text;
}

}  // namespace
}  // namespace tutti::test
