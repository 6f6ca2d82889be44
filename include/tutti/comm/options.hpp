// SPDX-License-Identifier: Apache-2.0
// The options of a communicator within one process.
#pragma once

#include <cstddef>
#include <string_view>

#include "tutti/wait/patience.hpp"

namespace tutti {

// Every member has a default that suits most programs.
struct communicator_options {
  // The name of a detector (termination/list.hpp). Empty: tutti chooses. docs/messages.md says
  // which is good for what.
  std::string_view detector = {};
  // The name of a wait policy (wait/list.hpp).
  std::string_view wait = "adaptive";
  // How long an idle participant keeps its processor before it sleeps (wait/patience.hpp).
  tutti::patience patience = {};
  // Bytes of each ring. 0: 16 KiB, or less if there are many participants. While a ring is full,
  // can_send() is false; rings beyond the second-level cache cost more than they save.
  std::size_t ring_bytes = 0;
  // A message is published at the latest when a later message begins this many bytes behind the
  // last published position. Larger batches move fewer lines; with smaller ones the receiver can
  // begin sooner.
  std::size_t batch_bytes = 1024;
  // Whether to measure endpoint_statistics::idle_ns, which costs two readings of the clock per
  // idle().
  bool time_idle = false;
};

}  // namespace tutti
