// SPDX-License-Identifier: Apache-2.0
// MPI programs on the hosts of a test bed, by the MPIs that are installed: MPI_Barrier over TCP,
// with which Arap, Brown, Himebaugh and Swany compare in their figure 4, and the same program when
// the preload serves it in the packet path.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "network/measure.hpp"

namespace tutti::network {

struct mpi_peer {
  // openmpi or mpich.
  std::string family;
  // The path of the program that each rank runs (mpi_barrier.cpp).
  std::string program;
  // Whether a rank that waits gives its processor away. Ranks that spin measure the scheduler when
  // there are more of them than processors.
  bool yields = true;
};

// The MPIs whose programs stand in one of the folders.
std::vector<mpi_peer> mpi_peers(const std::vector<std::string>& folders);

// What the ranks run.
struct mpi_command {
  // The program and its arguments.
  std::vector<std::string> words;
  // NAME=value pairs of each rank. TUTTI_MPI_NODE is set to the number of the host.
  std::vector<std::string> variables = {};
  // Rank r is on host r modulo the number of hosts.
  std::uint32_t ranks = 0;
  // Whether what goes to standard error is a part of the text.
  bool with_errors = false;
};
struct mpi_output {
  std::string text;
  // The launcher's, which waitpid() gives; never 0 if the time was up before it ended.
  int status = 0;
};
mpi_output run_mpi(testbed& bed, const mpi_peer& peer, const mpi_command& command,
                   std::chrono::seconds at_most);

// The variables with which the preload of these folders serves an MPI program in the packet path of
// the hosts, or by their engines; nothing if it is not there.
std::vector<std::string> served_by_preload(const std::vector<std::string>& folders,
                                           const std::string& topology = {},
                                           const std::string& network = "eth0");

struct mpi_plan {
  // Barriers of each rank.
  std::uint32_t calls = 2000;
  // One rank works for so long before each barrier; the ranks take turns.
  std::chrono::nanoseconds imbalance{0};
};
struct mpi_samples {
  // ns of a call, over all ranks and calls: what the OSU benchmarks take the average of.
  samples call;
  // ns from the last rank's call to the last rank's return, over all barriers.
  samples last_in_last_out;
};

// Throws std::runtime_error if a rank fails or does not end in time.
mpi_samples measure_mpi(testbed& bed, const mpi_peer& peer, const mpi_plan& plan,
                        std::chrono::seconds at_most,
                        const std::vector<std::string>& variables = {});

}  // namespace tutti::network
