// SPDX-License-Identifier: Apache-2.0
// How an engine runs a vertex program, and what it tells of the run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "tutti/graph/send_queue.hpp"

namespace tutti::graph {

struct engine_options {
  send_order order = send_order::first_in_first_out;
  // Sends between two looks for messages. A look that finds nothing makes what has been sent visible, full batch or not; 256
  // messages are some batches.
  std::uint32_t burst = 256;
  // Called by participant 0, each step and every so many sends, with time() and the sends so far. It must be quick.
  std::function<void(std::uint64_t time, std::uint64_t sends)> progress = {};
  // No participant waits longer than this for all the others without a sign of them; 0: as long as it takes. It must be
  // longer than the longest step of the slowest.
  std::chrono::nanoseconds deadline{0};
  // Somebody has failed: whoever waits for room gives up by run_cancelled.
  const std::atomic<bool>* cancelled = nullptr;
};

// Another participant of the run has failed.
class run_cancelled : public std::runtime_error {
 public:
  run_cancelled() : std::runtime_error("tutti: another participant of the run has failed") {}
};

// A deadline has passed.
class run_late : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of one participant, or, added up, of all. Messages are counted along edges: a send on a pin of ten edges is ten.
struct engine_statistics {
  std::uint64_t time = 0;     // steps that all vertices made; the same for all participants
  std::uint64_t sends = 0;    // calls of send()
  std::uint64_t local = 0;    // messages received from a vertex of the same participant
  std::uint64_t remote = 0;   // messages received from others
  std::uint64_t packets = 0;  // contents sent to other participants: one for each list of targets
  std::uint64_t host = 0;     // messages to the host
  std::uint64_t blocked = 0;  // times that there was no room for a packet
  std::uint64_t detections = 0;   // releases of idle(); the same for all participants
  std::uint64_t refutations = 0;  // messages that woke somebody in idle()
  double idle_seconds =
      0;  // in idle(), of all participants together; 0 if the endpoint does not measure it

  std::uint64_t messages() const noexcept { return local + remote; }

  engine_statistics& operator+=(const engine_statistics& o) noexcept {
    time = o.time > time ? o.time : time;
    sends += o.sends;
    local += o.local;
    remote += o.remote;
    packets += o.packets;
    host += o.host;
    blocked += o.blocked;
    detections = o.detections > detections ? o.detections : detections;
    refutations += o.refutations;
    idle_seconds += o.idle_seconds;
    return *this;
  }
};

}  // namespace tutti::graph
