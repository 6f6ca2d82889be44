// SPDX-License-Identifier: Apache-2.0
// One process of a test: mpi_worker THREADS TRANSPORT[/K] DETECTOR PACKET_BYTES SCENARIO...
// /K: each K processes count as a node.
// It exits with 0 if all scenarios held, with 1 and a sentence otherwise, and with 2 if MPI is not
// available. If it is ended by SIGTERM, as by a time limit, it says in which scenario.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "src/mpi/launch.hpp"
#include "tests/mpi/scenario.hpp"

namespace {

const tutti::test::scenario* find(std::string_view name) {
  using namespace tutti::test;
  for (const auto* all :
       {&traffic_scenarios, &agreement_scenarios, &fault_scenarios, &stress_scenarios})
    for (const scenario& one : *all)
      if (one.name == name) return &one;
  return nullptr;
}

// What the handler of SIGTERM writes; made before the scenario begins, because a handler must not.
std::array<char, 200> ended_in{};
volatile sig_atomic_t ended_in_bytes = 0;

void say_where(int) {
  // Nothing can be done if that fails.
  [[maybe_unused]] const ssize_t written =
      write(STDOUT_FILENO, ended_in.data(), static_cast<std::size_t>(ended_in_bytes));
  _exit(1);
}

void note_beginning(const tutti::mpi::launch& how, const char* scenario) {
  ended_in_bytes = 0;
  const int bytes =
      std::snprintf(ended_in.data(), ended_in.size(), "process %d of %d, %s: ended by SIGTERM\n",
                    how.rank, how.size, scenario);
  ended_in_bytes = bytes < static_cast<int>(ended_in.size()) ? bytes : 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto how = tutti::mpi::find_launch();
  if (!how) throw std::runtime_error("no launcher of MPI has started this program");
  if (argc < 6) throw std::runtime_error("mpi_worker: too few arguments");
  tutti::mpi::options chosen;
  chosen.threads = static_cast<tutti::rank_t>(std::atoi(argv[1]));
  const std::string transport = argv[2];
  const auto slash = transport.find('/');
  chosen.transport = transport.substr(0, slash);
  if (slash != transport.npos)
    chosen.processes_per_node = static_cast<std::uint32_t>(std::stoul(transport.substr(slash + 1)));
  chosen.detector = argv[3];
  chosen.packet_bytes = static_cast<std::size_t>(std::atoi(argv[4]));
  const tutti::mpi::library mpi(*how, chosen.threads > 1);
  // MPI may have a handler of its own until now.
  signal(SIGTERM, &say_where);
  for (int i = 5; i < argc; ++i) {
    const auto* const one = find(argv[i]);
    if (one == nullptr) throw std::runtime_error(std::string("no scenario ") + argv[i]);
    note_beginning(*how, argv[i]);
    try {
      one->run(mpi.functions(), chosen);
    } catch (const std::exception& error) {
      std::printf("process %d of %d, %s: %s\n", how->rank, how->size, argv[i], error.what());
      std::fflush(stdout);
      mpi.abort(1);
    }
  }
  if (how->rank == 0) std::printf("all scenarios held\n");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
