// SPDX-License-Identifier: Apache-2.0
// Starts programs that know nothing of tutti, by both MPIs, with the preload before them.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "preload/mpi/tests/component_home.hpp"
#include "tests/mpi/launched.hpp"

namespace tutti::test {
namespace {

const std::string programs = TUTTI_MPI_PROGRAMS "/";
const std::string preload = TUTTI_MPI_PRELOAD;

struct preloaded {
  int ranks = 3;
  // Options of the launcher.
  std::string options = {};
  // NAME=value pairs of the program.
  std::vector<std::string> variables = {"TUTTI_MPI_VERBOSE=1"};
  std::string libraries = preload;
};

// `program` is a command; the variables reach only the program, not the launcher.
output run_preloaded(const family& by, const std::string& program, preloaded how = {}) {
  std::string environment = "env LD_PRELOAD=" + how.libraries;
  for (const std::string& one : how.variables) environment += " " + one;
  return run_launched({by, how.ranks, how.options, "", 60}, environment + " " + program);
}

std::string program_of(const family& by, const std::string& scenarios) {
  return programs + "mpi_program_" + by.name + " " + scenarios;
}

bool says(const output& result, const std::string& what) {
  return result.text.find(what) != std::string::npos;
}
#define EXPECT_SAYS(result, what) EXPECT_TRUE(says(result, what)) << (result).text

class preload_mpi : public testing::TestWithParam<family> {
 protected:
  void SetUp() override { TUTTI_SKIP_WITHOUT(GetParam()); }
  output run(const std::string& scenarios, preloaded how = {}) {
    return run_preloaded(GetParam(), program_of(GetParam(), scenarios), std::move(how));
  }
};
INSTANTIATE_TEST_SUITE_P(mpi, preload_mpi, testing::Values(open_mpi, mpich),
                         [](const auto& which) { return which.param.name; });

TEST_P(preload_mpi, barriers_and_broadcasts_hold_with_more_ranks_than_cores) {
  const output result = run("barriers broadcasts order late", {.ranks = 4});
  expect_all_held(result);
  EXPECT_SAYS(result, "MPI_COMM_WORLD, 4 ranks: shared memory");
}

TEST_P(preload_mpi, every_operation_has_the_result_that_mpi_has) {
  const output result = run("operations", {.ranks = 2});
  expect_all_held(result);
  EXPECT_SAYS(result, "served 0 MPI_Barrier");
  EXPECT_FALSE(says(result, " 0 MPI_Allreduce")) << result.text;
}

TEST_P(preload_mpi, started_barriers_end_in_every_way_and_when_the_last_has_started) {
  expect_all_held(run("started freed"));
}

TEST_P(preload_mpi, a_rank_that_waits_for_a_started_barrier_alone_goes_on_sending) {
  expect_all_held(run("started_alone", {.ranks = 2}));
}

TEST_P(preload_mpi, communicators_are_made_and_freed_at_random) {
  const output result = run("communicators");
  expect_all_held(result);
  EXPECT_SAYS(result, "because it is an intercommunicator");
}

TEST_P(preload_mpi, threads_use_communicators_at_once) { expect_all_held(run("threads")); }

TEST_P(preload_mpi, threads_start_and_end_barriers_at_once) {
  expect_all_held(run("started_by_threads", {.ranks = 2}));
}

TEST_P(preload_mpi, calls_inside_finalize_are_served) { expect_all_held(run("finalize")); }

// MPI's sentence names the call, and none that the program has not made.
TEST_P(preload_mpi, calls_before_init_are_reported_by_mpi) {
  for (const std::string call : {"Barrier", "Bcast", "Allreduce"}) {
    const output result = run("before_init_" + call, {.ranks = 1});
    EXPECT_NE(result.status, 0);
    EXPECT_SAYS(result, call);
    EXPECT_FALSE(says(result, "Type_size")) << result.text;
  }
}

// The sentence names the call. But MPICH is asked whether a communicator that the program has made
// is one of a session.
TEST_P(preload_mpi, calls_after_finalize_are_reported_by_mpi) {
  for (const std::string scenario : {"world_after_the_end", "leaked_after_the_end"}) {
    const output result = run(scenario, {.ranks = 2});
    const bool is_asked = !GetParam().is_open_mpi() && scenario == "leaked_after_the_end";
    EXPECT_SAYS(result, is_asked ? "after finalizing MPICH" : "Barrier");
    EXPECT_FALSE(says(result, "Iprobe")) << result.text;
    EXPECT_FALSE(says(result, "all scenarios held")) << result.text;
    EXPECT_NE(result.status, 124) << "still there after a minute\n" << result.text;
  }
}

TEST_P(preload_mpi, what_programs_do_beside_the_calls_works) {
  expect_all_held(run("at_bottom files constant forked pending"));
}

// With other scenarios before it the call would not be the first one.
TEST_P(preload_mpi, the_first_call_may_come_while_a_thread_loads_a_library) {
  const output result = run("loading", {.ranks = 2});
  expect_all_held(result);
  EXPECT_SAYS(result, "served 1 MPI_Barrier");
}

// Builds of two versions in one environment, for instance.
TEST_P(preload_mpi, two_copies_of_the_preload_serve_a_program) {
  const std::string copy = programs + "libcopy.so";
  std::filesystem::copy_file(preload, copy, std::filesystem::copy_options::overwrite_existing);
  const output result = run("ten", {.ranks = 2, .libraries = preload + ":" + copy});
  expect_all_held(result);
  EXPECT_SAYS(result, "served 10 MPI_Barrier");
}

// This process, for which the ranks take the first of them, has a file under every number.
TEST_P(preload_mpi, a_file_of_another_process_is_no_memory) {
  std::string path = programs + "other-XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_EQ(ftruncate(file, 1 << 20), 0);
  std::vector<int> copies;
  while (copies.size() < 200) copies.push_back(dup(file));
  const output result =
      run("ten", {.ranks = 2,
                  .variables = {"TUTTI_MPI_VERBOSE=1", "OTHER_NUMBER=" + std::to_string(getpid())},
                  .libraries = programs + "libmpi_other_number.so:" + preload});
  expect_all_held(result);
  EXPECT_SAYS(result, "because rank 1 cannot open the shared memory of its node");
  std::string now(1 << 20, 'x');
  EXPECT_EQ(pread(file, now.data(), now.size(), 0), 1 << 20);
  EXPECT_EQ(now.find_first_not_of('\0'), std::string::npos) << "the file has been written to";
  for (const int copy : copies) close(copy);
  close(file);
  std::filesystem::remove(path);
}

// Its handle means another communicator later, which only this rank would not know.
TEST_P(preload_mpi, all_ranks_leave_a_communicator_to_mpi_whose_end_one_is_not_told) {
  for (const char* const scenario : {"ten", "communicators"}) {
    const output result =
        run(scenario, {.ranks = 2, .libraries = preload + ":" + programs + "libmpi_no_keys.so"});
    expect_all_held(result);
    EXPECT_SAYS(result, "MPI's own calls, because MPI does not tell a rank when it is freed");
  }
}

TEST_P(preload_mpi, communicators_are_served_while_they_are_freed) {
  const output result = run("deleted");
  expect_all_held(result);
  EXPECT_SAYS(result, "is freed: served 2 MPI_Barrier, 1 MPI_Ibarrier, 1 MPI_Bcast, 1 MPI_Allred");
}

TEST_P(preload_mpi, mistakes_are_reported_by_mpi) {
  expect_all_held(run("errors freeing cancelling completing"));
}

// Open MPI 4.1.4 looks into the memory of what is freed, and of what is null.
TEST(preload_mpi_alone, mistakes_are_reported_once) {
  TUTTI_SKIP_WITHOUT(mpich);
  const output result = run_preloaded(mpich, program_of(mpich, "told_once"));
  expect_all_held(result);
  EXPECT_SAYS(result, "MPI_COMM_WORLD, 3 ranks: shared memory");
}

TEST_P(preload_mpi, a_barrier_for_which_mpi_makes_no_request_is_not_started) {
  expect_all_held(
      run("without_request", {.libraries = preload + ":" + programs + "libmpi_no_requests.so"}));
}

// With other scenarios before it the world would have been set up.
TEST_P(preload_mpi, an_error_handler_may_jump_out_of_a_failed_free) {
  const output result = run("jumping");
  expect_all_held(result);
  EXPECT_SAYS(result, "MPI_COMM_WORLD, 3 ranks, is freed: served 0 MPI_Barrier");
}

TEST_P(preload_mpi, a_limit_of_the_sizes_of_files_leaves_the_calls_to_mpi) {
  const output result = run("small_files");
  expect_all_held(result);
  EXPECT_SAYS(result, "cannot open the shared memory of its node");
}

// Here a large message moves only while its sender calls MPI. MPICH sends over shared memory and
// cannot read the sender's: after large messages over TCP it often hangs in MPI_Finalize, also
// without the preload.
TEST_P(preload_mpi, a_rank_in_a_barrier_goes_on_sending) {
  const bool is_open_mpi = GetParam().is_open_mpi();
  expect_all_held(run("rendezvous", {.options = is_open_mpi ? "--mca btl tcp,self" : "",
                                     .variables = {is_open_mpi ? "" : "UCX_TLS=posix,self"}}));
}

TEST_P(preload_mpi, a_rank_that_never_waits_goes_on_sending) {
  const std::string options = GetParam().is_open_mpi() ? "--mca btl tcp,self" : "";
  expect_all_held(run("sent_by_the_last", {.ranks = 2, .options = options}));
}

TEST_P(preload_mpi, programs_in_fortran_are_served) {
  for (const std::string interface : {"mpif", "f08"}) {
    const std::string program = programs + "mpi_" + interface + "_" + GetParam().name;
    if (run_shell("test -x " + program).status != 0)
      GTEST_SKIP() << "mpifort." << GetParam().name << " is not installed";
    const output result = run_preloaded(GetParam(), program);
    expect_all_held(result);
    EXPECT_SAYS(result,
                "served 100 MPI_Barrier, 100 MPI_Ibarrier, 100 MPI_Bcast, 200 MPI_Allreduce")
        << interface;
  }
}

// A profiler may stand on either side of the preload.
TEST_P(preload_mpi, a_profiler_sees_every_call_and_the_preload_serves_it) {
  const std::string profiler = programs + "libmpi_profiler_" + GetParam().name + ".so";
  for (const std::string& libraries : {preload + ":" + profiler, profiler + ":" + preload}) {
    const output result = run("ten", {.libraries = libraries});
    expect_all_held(result);
    EXPECT_SAYS(result, "the profiler saw 10 barriers");
    EXPECT_SAYS(result, "served 10 MPI_Barrier");
  }
}

// Between the nodes MPI's own calls are used, which take 10 ms with MPICH and few cores.
TEST_P(preload_mpi, ranks_of_several_nodes_combine_in_their_node_first) {
  const std::string scenarios =
      GetParam().is_open_mpi() ? "barriers broadcasts order started operations" : "order started";
  const output result = run_preloaded(
      GetParam(),
      "sh -c 'export TUTTI_MPI_NODE=$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} % 2)); exec " +
          program_of(GetParam(), scenarios) + "'",
      {.ranks = 3});
  expect_all_held(result);
  EXPECT_SAYS(result, "MPI_COMM_WORLD, 3 ranks: shared memory in each of 2 nodes");
}

TEST_P(preload_mpi, ranks_that_share_no_node_are_left_to_mpi) {
  const output result =
      run_preloaded(GetParam(),
                    "sh -c 'export TUTTI_MPI_NODE=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; exec " +
                        program_of(GetParam(), "ten") + "'",
                    {.ranks = 2});
  expect_all_held(result);
  EXPECT_SAYS(result, "MPI's own calls, because no two of its ranks share a node");
}

TEST_P(preload_mpi, a_deadline_names_the_missing_rank_and_ends_the_job) {
  for (const std::string scenario : {"missing", "missing_root"}) {
    const output result = run(scenario, {.variables = {"TUTTI_MPI_DEADLINE=300ms"}});
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.status, 124) << "still there after a minute\n" << result.text;
    EXPECT_SAYS(result, "of MPI_COMM_WORLD has waited in MPI_B");
    EXPECT_SAYS(result, "for 0.3 s for rank 1 (process ");
    EXPECT_FALSE(says(result, "rank 0 (")) << result.text;
  }
}

// Ranks 0 and 1 are on one node, 2 and 3 on another. Rank 3 waits for its leader, which waits for
// the other node: neither of them is missing.
TEST_P(preload_mpi, a_deadline_names_no_leader_that_waits_for_another_node) {
  for (const std::string scenario : {"missing", "missing_root"}) {
    const output result = run_preloaded(
        GetParam(),
        "sh -c 'export TUTTI_MPI_NODE=$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} / 2)); exec " +
            program_of(GetParam(), scenario) + "'",
        {.ranks = 4, .variables = {"TUTTI_MPI_DEADLINE=1s"}});
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.status, 124) << "still there after a minute\n" << result.text;
    EXPECT_SAYS(result, "for 1 s for rank 1 (process ");
    EXPECT_FALSE(says(result, "for rank 2")) << result.text;
  }
}

// All others wait for the node of the missing rank, where nobody else is.
TEST_P(preload_mpi, a_deadline_ends_a_job_that_waits_for_a_whole_node) {
  for (const std::string ranks_of_nodes : {"0 1 0", "0 1 2 2"}) {
    const output result = run_preloaded(
        GetParam(),
        "sh -c 'set -- " + ranks_of_nodes +
            "; shift ${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; export TUTTI_MPI_NODE=$1; exec " +
            program_of(GetParam(), "missing") + "'",
        {.ranks = ranks_of_nodes.size() > 5 ? 4 : 3, .variables = {"TUTTI_MPI_DEADLINE=300ms"}});
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.status, 124) << "still there after a minute\n" << result.text;
    EXPECT_SAYS(result, " for 0.3 s for ranks of other nodes");
    EXPECT_FALSE(says(result, "(process ")) << result.text;
  }
}

TEST_P(preload_mpi, a_deadline_ends_a_job_in_which_a_rank_does_not_come_to_the_first_call) {
  const output result = run("missing_first", {.variables = {"TUTTI_MPI_DEADLINE=300ms"}});
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.status, 124) << "still there after a minute\n" << result.text;
  EXPECT_SAYS(result,
              "of MPI_COMM_WORLD has waited in its first call for 0.3 s for ranks that have not "
              "made it");
}

// MPICH's launcher refuses to start more processes on some machines.
TEST(preload_mpi_alone, ranks_of_several_jobs_are_left_to_mpi) {
  TUTTI_SKIP_WITHOUT(open_mpi);
  const output result = run_preloaded(open_mpi, program_of(open_mpi, "spawned"), {.ranks = 2});
  expect_all_held(result);
  EXPECT_SAYS(result, "because it has ranks of several jobs");
}

// Open MPI 4 is an MPI 3.
TEST(preload_mpi_alone, large_counts_match_small_ones) {
  TUTTI_SKIP_WITHOUT(mpich);
  const output result = run_preloaded(mpich, program_of(mpich, "large_counts"));
  expect_all_held(result);
  EXPECT_SAYS(result, "served 0 MPI_Barrier, 0 MPI_Ibarrier, 60 MPI_Bcast, 61 MPI_Allreduce");
}

TEST(preload_mpi_alone, communicators_of_sessions_are_served) {
  TUTTI_SKIP_WITHOUT(mpich);
  const output result = run_preloaded(mpich, program_of(mpich, "sessions"));
  expect_all_held(result);
  EXPECT_SAYS(result, "served 10 MPI_Barrier, 0 MPI_Ibarrier, 10 MPI_Bcast, 10 MPI_Allreduce");
}

// The launchers end the job when a rank is killed. Open MPI's can be told not to.
TEST(preload_mpi_alone, a_killed_rank_is_named_at_the_deadline) {
  TUTTI_SKIP_WITHOUT(open_mpi);
  const output result =
      run_preloaded(open_mpi, program_of(open_mpi, "killed"),
                    {.options = "--enable-recovery", .variables = {"TUTTI_MPI_DEADLINE=500ms"}});
  EXPECT_NE(result.status, 124) << "still there after a minute\n" << result.text;
  EXPECT_SAYS(result, ", which has ended)");
}

TEST_P(preload_mpi, values_that_cannot_be_understood_are_told_once) {
  const output result =
      run("ten", {.variables = {"TUTTI_MPI_DEADLINE=soon", "TUTTI_MPI_VERBOSE=yes"}});
  expect_all_held(result);
  EXPECT_SAYS(result,
              "tutti: TUTTI_MPI_DEADLINE is 'soon'; it must be a time with its unit, such as 500ms "
              "or 10s\n");
  EXPECT_SAYS(result, "tutti: TUTTI_MPI_VERBOSE is 'yes'; it must be 0 or 1\n");
  EXPECT_EQ(result.text.find("soon"), result.text.rfind("soon")) << result.text;
}

// The same calls as a component of Open MPI; nothing is preloaded.
class open_mpi_component : public testing::Test {
 protected:
  void SetUp() override {
    TUTTI_SKIP_WITHOUT(open_mpi);
    if (component.empty()) GTEST_SKIP() << "Open MPI has no headers for components";
  }
  static output run(const std::string& scenarios, int ranks = 3, const std::string& options = {}) {
    const std::string home = make_home_with_component(programs + "home", component);
    return run_launched({open_mpi, ranks, options, "HOME=" + home, 60},
                        "env TUTTI_MPI_VERBOSE=1 " + program_of(open_mpi, scenarios));
  }
  static inline const std::string component = TUTTI_MPI_COMPONENT;
};

TEST_F(open_mpi_component, serves_every_call) {
  const output result = run("barriers broadcasts order late operations", 4);
  expect_all_held(result);
  EXPECT_SAYS(result, "MPI_COMM_WORLD, 4 ranks: shared memory");
  const output ten = run("ten");
  expect_all_held(ten);
  EXPECT_SAYS(ten, "served 10 MPI_Barrier");
}

TEST_F(open_mpi_component, serves_communicators_threads_and_finalize) {
  for (const std::string scenario : {"communicators", "started freed", "deleted", "threads",
                                     "finalize", "at_bottom files constant forked"})
    expect_all_held(run(scenario));
}

TEST_F(open_mpi_component, exports_only_its_description) {
  const output result = run_shell("nm --dynamic --defined-only --format=posix " + component);
  if (result.status == 127) GTEST_SKIP() << "there is no nm";
  EXPECT_EQ(result.text.find("mca_coll_tutti_component D"), 0u) << result.text;
  EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 1) << result.text;
}

TEST_F(open_mpi_component, goes_on_sending_for_a_rank_that_never_waits) {
  expect_all_held(run("sent_by_the_last", 2, "--mca btl tcp,self"));
}

TEST_F(open_mpi_component, leaves_mistakes_to_open_mpi) {
  expect_all_held(run("errors freeing cancelling"));
}

// Open MPI makes collective calls before MPI_Init has ended.
TEST_F(open_mpi_component, serves_ranks_that_are_spawned) {
  const output result = run("spawned", 2);
  expect_all_held(result);
  EXPECT_SAYS(result, "because it has ranks of several jobs");
}

TEST_F(open_mpi_component, is_switched_off_by_its_priority) {
  const output result = run("ten", 2, "--mca coll_tutti_priority 0");
  expect_all_held(result);
  EXPECT_FALSE(says(result, "shared memory")) << result.text;
}

TEST(preload_mpi_alone, a_library_without_names_for_profilers_is_called) {
  const output result =
      run_shell("env LD_PRELOAD=" + preload + ":" + programs + "libmpi_serial.so true 2>&1");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "alone at a barrier\n");
}

TEST(preload_mpi_alone, a_program_without_mpi_runs_as_before) {
  const output result = run_shell("LD_PRELOAD=" + preload + " sh -c 'echo as before' 2>&1");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, "as before\n");
}

}  // namespace
}  // namespace tutti::test
