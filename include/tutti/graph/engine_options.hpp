// SPDX-License-Identifier: Apache-2.0
// The options of a run of a vertex program, and the counts that the run returns.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>

#include "tutti/graph/send_queue.hpp"

namespace tutti::graph {

// The options of a run; the defaults suit most programs.
struct engine_options {
  send_order order = send_order::first_in_first_out;
  // The number of sends between two checks for messages. A check that finds nothing makes
  // everything sent so far visible, whether or not a batch is full; 256 messages are several
  // batches. Vertices that have their turns in blocks of 256 send a block between two checks at
  // least.
  std::uint32_t burst = 256;
  // Participant 0 calls this at each step and every 65,536 sends, with the time and the number of
  // sends so far. It must be quick.
  std::function<void(std::uint64_t time, std::uint64_t sends)> progress = {};
  // The longest time for which a participant waits for all the others without a sign of them; 0:
  // without limit. It must exceed the longest step of the slowest participant.
  std::chrono::nanoseconds deadline{0};
  // The longest time for the run of the program; 0: without limit. A participant looks at the clock
  // between its bursts and steps.
  std::chrono::nanoseconds limit{0};
  // Combines messages to the same vertex before they are sent, where that makes fewer of them
  // (combine.hpp). The program must say how: see combining_program. It needs the combined edges
  // once more while the shards are made, and pays where many vertices of a participant have edges
  // to few vertices of another one.
  bool combine = false;
  // For run_across(): messages to the host stay in the process of their vertex. Each process gets
  // those of its own vertices; otherwise the first process gets those of all.
  bool own_results = false;
  // Set when a participant has failed: participants that wait for room then throw run_cancelled.
  const std::atomic<bool>* cancelled = nullptr;
};

// Another participant of the run has failed.
class run_cancelled : public std::runtime_error {
 public:
  run_cancelled() : std::runtime_error("tutti: another participant of the run has failed") {}
};

// The deadline or the limit of engine_options has passed.
class run_late : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Counts of one participant, or of all participants added up. Messages are counted along edges: a
// send on a pin of ten edges counts as ten.
struct engine_statistics {
  // Steps that all vertices made; the same for all participants.
  std::uint64_t time = 0;
  // Calls of send().
  std::uint64_t sends = 0;
  // Messages received from a vertex of the same participant.
  std::uint64_t local = 0;
  // Messages received from other participants.
  std::uint64_t remote = 0;
  // Contents sent to other participants: one per list of targets.
  std::uint64_t packets = 0;
  // Messages along edges that were combined, also those that found no other to be combined with.
  std::uint64_t combined = 0;
  // The contents that they became; they are among `packets`.
  std::uint64_t combined_packets = 0;
  // Messages to the host.
  std::uint64_t host = 0;
  // How often there was no room for a packet.
  std::uint64_t blocked = 0;
  // Releases of idle(); the same for all participants.
  std::uint64_t detections = 0;
  // Messages that woke a participant in idle().
  std::uint64_t refutations = 0;
  // Seconds in idle(), of all participants together; 0 if the endpoint does not measure it.
  double idle_seconds = 0;

  std::uint64_t messages() const noexcept { return local + remote; }

  engine_statistics& operator+=(const engine_statistics& o) noexcept {
    time = o.time > time ? o.time : time;
    sends += o.sends;
    local += o.local;
    remote += o.remote;
    packets += o.packets;
    combined += o.combined;
    combined_packets += o.combined_packets;
    host += o.host;
    blocked += o.blocked;
    detections = o.detections > detections ? o.detections : detections;
    refutations += o.refutations;
    idle_seconds += o.idle_seconds;
    return *this;
  }
};

}  // namespace tutti::graph
