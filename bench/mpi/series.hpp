// SPDX-License-Identifier: Apache-2.0
// What is measured on the processes of an MPI: series of tutti and of the MPI's own primitives,
// which take turns in one run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tutti/mpi/communicator.hpp"

namespace tutti::bench {

struct mpi_series {
  // "idle", "message" or "hop".
  std::string benchmark;
  // "tutti", "openmpi" or "mpich".
  std::string provider;
  // The name of the transport or of the primitive.
  std::string name;
  // "empty", "one_message", "random", "next" or "one_way".
  std::string metric;
  // Runs `count` operations; collective. An operation is an episode, a message of each process, or
  // a hop.
  std::function<void(std::uint64_t count)> run;
};

// An episode; one in which each has sent a message; messages of 8 bytes to random others; a token's
// hop.
void add_tutti_series(std::vector<mpi_series>& all, mpi::communicator& comm, const char* name);

// MPI_Barrier, MPI_Ibarrier, MPI_Allreduce; the NBX scheme; MPI_Isend and MPI_Irecv; MPI_Send and
// MPI_Recv.
void add_mpi_series(std::vector<mpi_series>& all, const char* family);

}  // namespace tutti::bench
