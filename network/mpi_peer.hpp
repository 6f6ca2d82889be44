// SPDX-License-Identifier: Apache-2.0
// MPI_Barrier of the MPIs that are installed, over TCP between the hosts of a test bed: what Arap,
// Brown, Himebaugh and Swany compare with in their figure 4.
#pragma once

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

// The times of `calls` barriers on each host. Throws std::runtime_error if a rank fails or does not
// end in time.
samples measure_mpi(testbed& bed, const mpi_peer& peer, std::uint32_t calls,
                    std::chrono::seconds at_most);

}  // namespace tutti::network
