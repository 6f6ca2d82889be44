// SPDX-License-Identifier: Apache-2.0
// The second step of a collective call on a communicator with several nodes. The ranks of a node
// have combined what they have; the first rank of each node, its leader, calls this, and then tells
// the others of its node. There are two ways: MPI's own calls, and the network's nodes: programs in
// the packet path of the kernel, or engines in RTL.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "preload/mpi/library.hpp"
#include "tutti/platform/interface_base.hpp"

namespace tutti::preload {

// What a reduction reduces.
struct reduced {
  // This node's values, which become all nodes'.
  void* values = nullptr;
  std::size_t count = 0, bytes = 0;
  combine op = nullptr;
  handle type = 0, mpi_op = 0;
};

class between_nodes : public interface_base {
 public:
  // All leaders call the same; they return MPI's error codes. Values have at most room::most_bytes.
  virtual int barrier() noexcept = 0;
  // `node`: the number of the node that has the data.
  virtual int bcast(void* data, int bytes, int node) noexcept = 0;
  virtual int allreduce(const reduced& r) noexcept = 0;
  // The path, and how many calls it has served, for people.
  virtual std::string path() const = 0;
  virtual std::string account() const = 0;
};

// What the paths need of the communicator that they serve.
struct leader {
  const library& mpi;
  handle comm;
  int rank = 0;
  bool is_leader = false;
  // The number of this node, and the rank of each node's leader.
  int node = 0;
  std::vector<int> leaders;
  // How long the network's calls wait; 0: they wait for ever.
  std::uint64_t deadline_ns = 0;
  // The same for MPI's own calls. Either it is 0 at all leaders or at none: what one of them starts
  // does not match what another waits for at once.
  std::uint64_t patience_ns = 0;
  // Lets MPI work on what it has begun.
  void (*make_progress)(void* state) = nullptr;
  // Names the ranks that a deadline has found missing, and ends the job.
  void (*report)(void* state, const std::string& missing) = nullptr;
  // Says why this leader cannot go on, and ends the job.
  void (*give_up)(void* state, const std::string& why) = nullptr;
  void* state = nullptr;
};

// MPI's own calls on a communicator of the leaders. Collective over all ranks of the communicator.
// On a rank that is no leader the result has no functions to call. Sets `is_made` to false if MPI
// fails.
std::unique_ptr<between_nodes> leaders_by_mpi(const leader& me, bool& is_made);

// The nodes of `network`, as the setting names it, for what fits into their packets, and MPI's
// own calls for the rest. If one leader cannot take it, all take MPI's own; path() then says why.
std::unique_ptr<between_nodes> leaders_by_network(const leader& me, const std::string& network,
                                                  bool& is_made);

}  // namespace tutti::preload
