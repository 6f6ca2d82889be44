// SPDX-License-Identifier: Apache-2.0
// The second step of a collective call on a communicator with several nodes. The ranks of a node
// have combined what they have; the first rank of each node, its leader, calls this, and then tells
// the others of its node. A path through the network is another class with these functions.
#pragma once

#include <memory>
#include <string>

#include "preload/mpi/library.hpp"
#include "tutti/platform/interface_base.hpp"

namespace tutti::preload {

class between_nodes : public interface_base {
 public:
  // All leaders call the same; they return MPI's error codes. Values have at most room::most_bytes.
  virtual int barrier() noexcept = 0;
  // `node`: the number of the node that has the data.
  virtual int bcast(void* data, int bytes, int node) noexcept = 0;
  // `values` has this node's values and gets all nodes'.
  virtual int allreduce(void* values, int count, handle type, handle op) noexcept = 0;
};

// MPI's own calls on a communicator of the leaders. Collective over all ranks of `comm`. On a rank
// that is no leader the result has no functions to call. Sets `is_made` to false if MPI fails.
std::unique_ptr<between_nodes> leaders_by_mpi(const library& mpi, handle comm, bool is_leader,
                                              int rank, bool& is_made);

}  // namespace tutti::preload
