// SPDX-License-Identifier: Apache-2.0
// How a communicator of one process is made.
#pragma once

#include <cstddef>
#include <string_view>

#include "tutti/wait/patience.hpp"

namespace tutti {

struct communicator_options {
  // "counter", "snapshot", or a protocol: "star", "ring", "tree", "waves". Empty: tutti chooses; docs/messages.md says when
  // which is good.
  std::string_view detector = {};
  // A name of registry.hpp's wait policies.
  std::string_view wait = "adaptive";
  // For how long a participant that is idle keeps its processor before it sleeps (wait/patience.hpp).
  tutti::patience patience = {};
  // Bytes of each ring; 0: 16 KiB, less when there are many participants. A ring more than full makes can_send() false, and
  // rings beyond the second-level cache cost more than they save.
  std::size_t ring_bytes = 0;
  // A message is published when so many bytes lie before its successor, if nobody asks before. Larger batches move fewer
  // lines, smaller ones let the receiver begin sooner.
  std::size_t batch_bytes = 1024;
  // Measure endpoint_statistics::idle_ns: two looks at the clock for each idle().
  bool time_idle = false;
};

}  // namespace tutti
