// SPDX-License-Identifier: Apache-2.0
// Starts programs that know nothing of tutti on hosts of a test bed, by both MPIs: the preload
// serves their calls in the packet path of the kernel, and their barriers in engines in RTL, which
// Verilator simulates.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "network/engine_card.hpp"
#include "network/engine_cards.hpp"
#include "network/mpi_peer.hpp"
#include "network/tests/namespaces.hpp"
#include "preload/mpi/tests/component_home.hpp"

namespace {

using namespace tutti::network;
using tutti::rank_t;
using namespace std::chrono_literals;

bool says(const mpi_output& result, const std::string& what) {
  return result.text.find(what) != std::string::npos;
}

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
                        std::vector<std::string> more = {}, const std::string& topology = {},
                        const std::string& network = "eth0") {
    mpi_command command;
    command.words = {program()};
    command.words.insert(command.words.end(), scenarios.begin(), scenarios.end());
    command.variables = served_by_preload({TUTTI_MPI_FOLDER}, topology, network);
    command.variables.push_back("TUTTI_MPI_VERBOSE=1");
    command.variables.insert(command.variables.end(), more.begin(), more.end());
    command.ranks = ranks;
    command.with_errors = true;
    // One of some forty runs of MPICH 4.0.2 with two ranks over TCP waits in MPI_Finalize for ever,
    // without tutti as well.
    for (unsigned attempt = 1; attempt < 4 && !is_open_mpi(); ++attempt) {
      mpi_output result = run_mpi(bed, {GetParam(), program(), false}, command, 20s);
      if (!waits_in_finalize(result)) return result;
    }
    return run_mpi(bed, {GetParam(), program(), is_open_mpi()}, command, 60s);
  }

 private:
  // Rank 0 tells what it did when MPI_Finalize has freed the world.
  static bool waits_in_finalize(const mpi_output& result) {
    return result.status != 0 && says(result, "tutti: MPI_COMM_WORLD, ") &&
           says(result, " ranks, is freed: ") && !says(result, "all scenarios held");
  }
};
INSTANTIATE_TEST_SUITE_P(mpi, preload_mpi_network, testing::Values("openmpi", "mpich"),
                         [](const auto& each) { return each.param; });

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
  const mpi_output result = run(
      bed,
      {"broadcasts", "constant", "forked", "pending", "order", "late", "operations", "finalize"},
      hosts);
  EXPECT_HELD(result);
  EXPECT_SAYS(result, "MPI_COMM_WORLD, " + std::to_string(hosts) +
                          " ranks: " + std::to_string(hosts) + " nodes, communicator ");
  EXPECT_SAYS(result, "in the packet path of eth0 (native XDP)");
  EXPECT_FALSE(says(result, "; 0 episodes in the network")) << result.text;
}

TEST_P(preload_mpi_network, ranks_combine_in_their_host_first) {
  testbed bed(2);
  // Loss is healed below MPI.
  bed.inject_faults({.lose = 0.01});
  const mpi_output result = run(bed, {"broadcasts", "order"}, is_open_mpi() ? 4 : 2, {}, "ring");
  EXPECT_HELD(result);
  EXPECT_SAYS(result, ": ring of 2 in the packet path of eth0");
}

// A shell of each rank sets the variables.
TEST_P(preload_mpi_network, variables_may_contain_an_apostrophe) {
  testbed bed(2);
  EXPECT_HELD(run(bed, {"order"}, 2, {"TUTTI_TEST=the ranks' own"}));
}

TEST_P(preload_mpi_network, a_launcher_that_fails_is_told_with_its_exit_status) {
  testbed bed(2);
  std::string told;
  try {
    measure_mpi(bed, {GetParam(), "/bin/false", is_open_mpi()}, {10, 0ns}, 60s);
  } catch (const std::runtime_error& error) {
    told = error.what();
  }
  EXPECT_EQ(told, "mpirun." + GetParam() + " did not give all times, and ended with exit status 1");
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

// Two ranks of each host are leaders. If both took the first free identifier, each would often find
// it in use at one of the hosts.
TEST_P(preload_mpi_network, leaders_of_several_communicators_find_identifiers_at_once) {
  if (!is_open_mpi()) GTEST_SKIP() << "its ranks spin";
  testbed bed(2);
  const mpi_output result = run(bed, {"halves"}, 4);
  EXPECT_HELD(result);
  std::size_t in_use = 0;
  for (std::size_t at = 0; (at = result.text.find("is in use", at)) != std::string::npos; ++at)
    ++in_use;
  EXPECT_LT(in_use, 5) << result.text;
}

// The processes whose command line has these words.
std::vector<pid_t> processes_of(const std::vector<std::string>& words) {
  std::string wanted;
  for (const std::string& word : words) wanted += word + '\0';
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    const std::string line(std::istreambuf_iterator<char>(file), {});
    if (line == wanted) found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}
bool becomes(std::size_t count, const std::vector<std::string>& words) {
  for (int tries = 0; tries < 400; ++tries) {
    if (processes_of(words).size() == count) return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

// A launcher that is killed ends nobody.
TEST_P(preload_mpi_network, ranks_end_with_a_launcher_that_is_killed) {
  testbed bed(2);
  // No other process has this command line.
  const mpi_command command{{"/bin/sleep", "600." + std::to_string(::getpid())}, {}, 2};
  std::thread launches([&] { run_mpi(bed, {GetParam(), program()}, command, 60s); });
  EXPECT_TRUE(becomes(2, command.words));
  // This process has no other children.
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (pid_t launcher = 0; file >> launcher;) ::kill(launcher, SIGKILL);
  }
  EXPECT_TRUE(becomes(0, command.words));
  launches.join();
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

// Hosts with a router between them are such: the packets are not sent to the router.
TEST_P(preload_mpi_network, all_fall_back_if_the_packets_do_not_arrive) {
  testbed bed(2);
  bed.inject_faults({.lose = 0.9999999});
  const mpi_output result = run(bed, {"ten", "order"}, 2);
  EXPECT_HELD(result);
  EXPECT_SAYS(result,
              "2 nodes, MPI's own calls between their first ranks, because on the node of rank 0, "
              "the packets of a barrier do not arrive");
}

TEST_P(preload_mpi_network, a_deadline_names_the_rank_whose_node_has_not_called) {
  const std::uint32_t hosts = is_open_mpi() ? 3 : 2;
  testbed bed(hosts);
  const mpi_output result = run(bed, {"missing"}, hosts, {"TUTTI_MPI_DEADLINE=400ms"});
  EXPECT_NE(result.status, 0);
  EXPECT_SAYS(result, "for 0.4 s for rank 1 (its node has not called)");
}

// The same calls by the component of Open MPI, from a home where it is a link, as
// docs/mpi-preload.md says; nothing is preloaded.
TEST(open_mpi_component, serves_ranks_on_several_hosts) {
  static const std::string why = why_no_testbed();
  const std::string component = TUTTI_MPI_COMPONENT;
  if (!why.empty()) GTEST_SKIP() << "no namespaces here: " << why;
  if (component.empty()) GTEST_SKIP() << "Open MPI has no headers for components";
  const std::string home =
      tutti::test::make_home_with_component(TUTTI_MPI_PROGRAMS "/home_of_hosts", component);
  testbed bed(2);
  const auto run = [&](const std::vector<std::string>& scenarios, const std::string& network) {
    const std::string program = TUTTI_MPI_PROGRAMS "/mpi_program_openmpi";
    mpi_command command{
        {program}, {"HOME=" + home, "TUTTI_MPI_NETWORK=" + network, "TUTTI_MPI_VERBOSE=1"}, 4};
    command.words.insert(command.words.end(), scenarios.begin(), scenarios.end());
    command.with_errors = true;
    return run_mpi(bed, {"openmpi", program, true}, command, 60s);
  };
  const mpi_output served =
      run({"broadcasts", "order", "operations", "communicators", "finalize"}, "eth0");
  EXPECT_HELD(served);
  EXPECT_SAYS(served, "MPI_COMM_WORLD, 4 ranks: shared memory in each of 2 nodes, communicator ");
  EXPECT_SAYS(served, "in the packet path of eth0 (native XDP)");
  EXPECT_FALSE(says(served, "; 0 episodes in the network")) << served.text;
  // MPI calls between the nodes: on a communicator of their first ranks, which is not served too.
  const mpi_output left = run({"broadcasts", "order"}, "none0");
  EXPECT_HELD(left);
  EXPECT_SAYS(left, "MPI's own calls between their first ranks, because on the node of rank 0");
  EXPECT_FALSE(says(left, ", 2 ranks: ")) << left.text;
}

// Barriers of the same programs in engines in RTL: every barrier packet goes through the host's
// network stack and a TAP device into the simulated engine of its card, and over cables to others.
class preload_mpi_engine : public preload_mpi_network {
 protected:
  void SetUp() override {
    preload_mpi_network::SetUp();
    if (::access(TUTTI_NETWORK_ENGINE, X_OK) != 0) GTEST_SKIP() << "Verilator is not installed";
    if (::access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "no TAP devices here";
  }
  static mpi_output run_served(testbed& bed, std::vector<std::string> scenarios,
                               std::uint32_t ranks, std::vector<std::string> more = {},
                               const std::string& topology = {}) {
    return run(bed, std::move(scenarios), ranks, std::move(more), topology, "engine/tap0");
  }
  // An engine gets the signal while the ranks are in their barriers.
  static mpi_output signal_during_barriers(int signal, rank_t victim) {
    const rank_t hosts = is_open_mpi() ? 3 : 2;
    testbed bed(hosts, xdp_mode::native, false);
    const engine_cards cards(bed, TUTTI_NET_RING, TUTTI_NETWORK_ENGINE);
    std::thread killer([&] {
      std::this_thread::sleep_for(2s);
      cards.signal(victim, signal);
    });
    const mpi_output result = run_served(bed, {"endless"}, hosts);
    killer.join();
    return result;
  }
};
INSTANTIATE_TEST_SUITE_P(mpi, preload_mpi_engine, testing::Values("openmpi", "mpich"),
                         [](const auto& each) { return each.param; });

TEST_P(preload_mpi_engine, serves_the_barriers_of_a_ring) {
  const rank_t hosts = is_open_mpi() ? 4 : 2;
  testbed bed(hosts, xdp_mode::native, false);
  const engine_cards cards(bed, TUTTI_NET_RING, TUTTI_NETWORK_ENGINE);
  const mpi_output result =
      run_served(bed, {"broadcasts", "order", "late", "published", "finalize"}, hosts);
  EXPECT_HELD(result);
  // A star of two is a ring of two.
  EXPECT_SAYS(result, std::string(is_open_mpi() ? ": ring" : ": star") + " of " +
                          std::to_string(hosts) + " in the engines of tap0; they carry no values");
  EXPECT_FALSE(says(result, "; 0 episodes in the network")) << result.text;
}

// Two ranks of each host call its engine once. All topologies of two hosts have the same cables.
TEST_P(preload_mpi_engine, serves_ranks_that_share_hosts_in_each_topology) {
  for (const auto& [topology, name] : {std::pair{TUTTI_NET_RING, "ring"},
                                       {TUTTI_NET_TREE, "tree"},
                                       {TUTTI_NET_STAR, "star"},
                                       {TUTTI_NET_BUTTERFLY, "butterfly"}}) {
    if (!is_open_mpi() && topology != TUTTI_NET_BUTTERFLY) continue;
    const rank_t hosts = is_open_mpi() ? 4 : 2;
    testbed bed(hosts, xdp_mode::native, false);
    const engine_cards cards(bed, topology, TUTTI_NETWORK_ENGINE);
    const mpi_output result =
        run_served(bed, {"published"}, is_open_mpi() ? 2 * hosts : hosts, {}, name);
    EXPECT_HELD(result);
    EXPECT_SAYS(result, ": " + std::string(name) + " of " + std::to_string(hosts) +
                            " in the engines of tap0");
  }
}

// The engine has places for four, and a part of a ring has no cables of its own: then MPI serves,
// and what was started has ended when the program has.
TEST_P(preload_mpi_engine, communicators_that_the_engines_cannot_take_are_left_to_mpi) {
  const rank_t hosts = is_open_mpi() ? 3 : 2;
  testbed bed(hosts, xdp_mode::native, false);
  const engine_cards cards(bed, TUTTI_NET_RING, TUTTI_NETWORK_ENGINE);
  const mpi_output result = run_served(bed, {"communicators"}, hosts);
  EXPECT_HELD(result);
  EXPECT_SAYS(result, "all communicators of the engine of tap0 are in use");
  const auto all_are_free = [](tutti::rank_t) {
    if (engine_card("tap0").description().room != 4)
      throw std::runtime_error("a communicator is left");
  };
  EXPECT_EQ(bed.run(all_are_free, 10s), "");
}

TEST_P(preload_mpi_engine, all_fall_back_if_one_host_has_no_engine) {
  testbed bed(2, xdp_mode::native, false);
  const engine_cards cards(bed, TUTTI_NET_RING, TUTTI_NETWORK_ENGINE);
  cards.signal(1, SIGKILL);
  const mpi_output result = run_served(bed, {"ten", "order"}, 2);
  EXPECT_HELD(result);
  EXPECT_SAYS(result,
              "2 nodes, MPI's own calls between their first ranks, because on the node of rank 1, "
              "no engine has the device tap0");
}

TEST_P(preload_mpi_engine, all_fall_back_if_the_cables_do_not_fit) {
  const rank_t hosts = is_open_mpi() ? 4 : 2;
  testbed bed(hosts, xdp_mode::native, false);
  const engine_cards cards(bed, TUTTI_NET_RING, TUTTI_NETWORK_ENGINE);
  if (is_open_mpi()) {
    const mpi_output other = run_served(bed, {"ten"}, hosts, {}, "star");
    EXPECT_HELD(other);
    EXPECT_SAYS(other,
                "on the node of rank 0, the cables of the engines form no star of these nodes");
  }
  const mpi_output none = run_served(bed, {"ten"}, hosts, {}, "dissemination");
  EXPECT_HELD(none);
  EXPECT_SAYS(none, "on the node of rank 0, engines do not have the topology dissemination");
}

// Without a deadline, too, the program ends, and says where.
TEST_P(preload_mpi_engine, an_engine_that_ends_is_named) {
  const mpi_output result = signal_during_barriers(SIGKILL, 1);
  EXPECT_NE(result.status, 0);
  EXPECT_SAYS(result,
              "rank 1 of MPI_COMM_WORLD cannot go on, because the engine of tap0 has ended");
}
TEST_P(preload_mpi_engine, an_engine_that_stands_still_is_named) {
  const mpi_output result = signal_during_barriers(SIGSTOP, 0);
  EXPECT_NE(result.status, 0);
  EXPECT_SAYS(result,
              "rank 0 of MPI_COMM_WORLD cannot go on, because the engine of tap0 does not answer");
}

TEST_P(preload_mpi_engine, a_deadline_names_the_neighbour_that_has_sent_nothing) {
  const rank_t hosts = is_open_mpi() ? 3 : 2;
  testbed bed(hosts, xdp_mode::native, false);
  const engine_cards cards(bed, TUTTI_NET_RING, TUTTI_NETWORK_ENGINE);
  const mpi_output result = run_served(bed, {"missing"}, hosts, {"TUTTI_MPI_DEADLINE=400ms"});
  EXPECT_NE(result.status, 0);
  EXPECT_SAYS(result, "for 0.4 s for rank 1 (its engine has sent nothing)");
}

}  // namespace
