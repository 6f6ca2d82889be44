// SPDX-License-Identifier: Apache-2.0
// The options of a communicator across processes. All processes must choose the same; this is
// checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tutti/platform/config.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::mpi {

// Every member has a default that suits most programs.
struct options {
  // The number of participants of this process.
  rank_t threads = 1;
  // The name of the termination detection between processes (termination/protocol/algorithms.hpp).
  // In an empty episode the star needs one message to the root and one
  // back; with many processes the tree relieves the root.
  std::string detector = "star";
  // "shared": shared memory. "mpi": messages of MPI. "auto": shared memory if all processes are on
  // one node; otherwise rings in shared memory within each node, and messages of MPI between nodes.
  std::string transport = "auto";
  // Messages to one process travel together in packets of this size in bytes. The default is large
  // enough to spread MPI's cost over a thousand small messages, and small enough for MPI's fast
  // path within a node.
  std::size_t packet_bytes = 16 * 1024;
  // The number of packets that may be under way from one participant to one process before the
  // participant must wait. This bounds the memory of a slow receiver. Two would keep a link busy;
  // more even out bursts.
  std::size_t packets_under_way = 8;
  // 0: processes that see each other's process ids are on one node. Otherwise the first so many
  // processes count as a node, and so on, as if each were a machine: to try on one machine what
  // runs on several.
  std::uint32_t processes_per_node = 0;
  // Bytes of each ring in shared memory. 0: 16 KiB, or less if there are many participants. A
  // message larger than a quarter of the ring travels in pieces.
  std::size_t ring_bytes = 0;
  // How long an idle participant keeps its processor before it sleeps (wait/patience.hpp). The
  // processes may choose differently.
  tutti::patience patience = {};
  // Whether to measure endpoint_statistics::idle_ns, which costs two readings of the clock per
  // idle().
  bool time_idle = false;
};

}  // namespace tutti::mpi
