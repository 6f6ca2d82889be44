// SPDX-License-Identifier: Apache-2.0
// What the environment says. Every rank reads it for itself; whatever must be the same on all ranks
// is compared when a communicator is set up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::preload {

struct settings {
  // TUTTI_MPI_VERBOSE=1: say on stderr which path each communicator takes and why, and when it is
  // freed, how many calls took it.
  bool is_verbose = false;
  // TUTTI_MPI_DEADLINE=10s: a rank that waits longer names those that are missing and ends the job.
  std::uint64_t deadline_ns = 0;
  // TUTTI_MPI_NODE=name: ranks with the same name share memory. Without it those share memory that
  // see each other's processes.
  std::uint64_t node = 0;
  // TUTTI_MPI_NETWORK=eth0 or eth0:tree: the first ranks of the nodes synchronise in the packet
  // path of this device (docs/network.md). Empty: by MPI's own calls.
  std::string network;
  // A sentence about each value that cannot be understood.
  std::vector<std::string> complaints;

  static const settings& get();
};

}  // namespace tutti::preload
