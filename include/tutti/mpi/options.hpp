// SPDX-License-Identifier: Apache-2.0
// What one chooses when a communicator across processes is made. All processes must choose the same: checked.
#pragma once

#include <cstddef>
#include <string>

#include "tutti/platform/config.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::mpi {

struct options {
  // Participants of this process; the same on every process.
  rank_t threads = 1;
  // Termination detection between processes, by name: star, ring, tree, waves (detect/protocol/). The star needs one
  // message to the root and one back for an empty episode; at many processes the tree spares the root.
  std::string detector = "star";
  // "auto": shared memory when all processes are on one node, messages of MPI otherwise. "shared", "mpi": that one.
  std::string transport = "auto";
  // Messages to one process travel together in packets of this size. Large enough that MPI's cost is spread over a
  // thousand small messages, small enough for its fast path inside a node.
  std::size_t packet_bytes = 16 * 1024;
  // Packets that may be under way from one participant to one process before it must wait: what bounds the memory of a
  // receiver that is slow. Two would do to keep a link busy; more even out bursts.
  std::size_t packets_under_way = 8;
  // Room from one participant to another in shared memory, in bytes; 0: 16 KiB, less when there are many participants. A
  // message of more than a quarter goes in pieces.
  std::size_t ring_bytes = 0;
  // For how long a participant that is idle keeps its processor before it sleeps (wait/patience.hpp). The processes may
  // choose differently.
  tutti::patience patience = {};
  // Whether statistics().idle_ns is measured: two looks at the clock an idle().
  bool time_idle = false;
};

}  // namespace tutti::mpi
