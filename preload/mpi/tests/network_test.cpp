// SPDX-License-Identifier: Apache-2.0
// Starts programs that know nothing of tutti on hosts of a test bed, by both MPIs: the preload
// serves their calls in the packet path of the kernel.
#include <gtest/gtest.h>

#include "network/mpi_peer.hpp"
#include "network/tests/namespaces.hpp"

namespace {

using namespace tutti::network;
using namespace std::chrono_literals;

class preload_mpi_network : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    static const std::string why = why_no_testbed();
    if (!why.empty()) GTEST_SKIP() << "no namespaces here: " << why;
    if (::access(program().c_str(), X_OK) != 0) GTEST_SKIP() << GetParam() << " is not installed";
  }
  static bool is_open_mpi() { return GetParam() == "openmpi"; }
  static std::string program() {
    return std::string(TUTTI_MPI_PROGRAMS "/mpi_program_") + GetParam();
  }
  static mpi_output run(testbed& bed, std::vector<std::string> scenarios, std::uint32_t ranks,
                        std::vector<std::string> more = {}, const std::string& topology = {}) {
    mpi_command command;
    command.words = {program()};
    command.words.insert(command.words.end(), scenarios.begin(), scenarios.end());
    command.variables = served_by_preload({TUTTI_MPI_FOLDER}, topology);
    command.variables.push_back("TUTTI_MPI_VERBOSE=1");
    command.variables.insert(command.variables.end(), more.begin(), more.end());
    command.ranks = ranks;
    command.with_errors = true;
    return run_mpi(bed, {GetParam(), program(), is_open_mpi()}, command, 60s);
  }
};
INSTANTIATE_TEST_SUITE_P(mpi, preload_mpi_network, testing::Values("openmpi", "mpich"),
                         [](const auto& each) { return each.param; });

bool says(const mpi_output& result, const std::string& what) {
  return result.text.find(what) != std::string::npos;
}
#define EXPECT_HELD(result)                                           \
  do {                                                                \
    EXPECT_EQ((result).status, 0) << (result).text;                   \
    EXPECT_TRUE(says(result, "all scenarios held")) << (result).text; \
  } while (false)
#define EXPECT_SAYS(result, what) EXPECT_TRUE(says(result, what)) << (result).text

// Ranks of MPICH spin in its own calls, so it has no more of them than processors.
TEST_P(preload_mpi_network, one_rank_on_each_host) {
  const std::uint32_t hosts = is_open_mpi() ? 3 : 2;
  testbed bed(hosts);
  const mpi_output result =
      run(bed, {"broadcasts", "order", "late", "operations", "finalize"}, hosts);
  EXPECT_HELD(result);
  EXPECT_SAYS(result, "MPI_COMM_WORLD, " + std::to_string(hosts) +
                          " ranks: " + std::to_string(hosts) + " nodes, communicator ");
  EXPECT_SAYS(result, "in the packet path of eth0 (native XDP)");
  EXPECT_FALSE(says(result, "; 0 episodes in the packet path")) << result.text;
}

TEST_P(preload_mpi_network, ranks_combine_in_their_host_first) {
  testbed bed(2);
  // Loss is healed below MPI.
  bed.inject_faults({.lose = 0.01});
  const mpi_output result = run(bed, {"broadcasts", "order"}, is_open_mpi() ? 4 : 2, {}, "ring");
  EXPECT_HELD(result);
  EXPECT_SAYS(result, ": ring of 2 in the packet path of eth0");
}

// Their identifiers are used again.
TEST_P(preload_mpi_network, communicators_come_and_go) {
  const std::uint32_t hosts = is_open_mpi() ? 3 : 2;
  testbed bed(hosts);
  EXPECT_HELD(run(bed, {"communicators"}, hosts));
  const auto nothing_is_left = [](tutti::rank_t) {
    if (!open_maps("eth0").members().empty()) throw std::runtime_error("a communicator is left");
  };
  EXPECT_EQ(bed.run(nothing_is_left, 10s), "");
}

TEST_P(preload_mpi_network, all_fall_back_if_one_host_has_no_program) {
  testbed bed(2, xdp_mode::native, false);
  bed.attach_node(0, xdp_mode::native);
  const mpi_output result = run(bed, {"ten", "order"}, 2);
  EXPECT_HELD(result);
  EXPECT_SAYS(result,
              "2 nodes, MPI's own calls between their first ranks, because on the node of rank 1, "
              "eth0 has no program of tutti's");
}

TEST_P(preload_mpi_network, a_deadline_names_the_rank_whose_node_has_not_called) {
  const std::uint32_t hosts = is_open_mpi() ? 3 : 2;
  testbed bed(hosts);
  const mpi_output result = run(bed, {"missing"}, hosts, {"TUTTI_MPI_DEADLINE=400ms"});
  EXPECT_NE(result.status, 0);
  EXPECT_SAYS(result, "for 0.4 s for rank 1 (its node has not called)");
}

}  // namespace
