// SPDX-License-Identifier: Apache-2.0
// A thread of a simulated machine: its fiber, and what it waits for. Only the sources of `world`
// include this: world.cpp, system.cpp, lines.cpp and requests.cpp.
#pragma once

#include <cstring>
#include <deque>
#include <unordered_map>

#include "sim/world.hpp"

namespace tutti::sim {

// The bytes of a word as a number.
inline std::uint64_t read(const void* address, std::size_t size) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, address, size);
  return value;
}

// The exceptions that a thread handles, which the C++ ABI defines (section 2.2.2).
struct handled_exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

struct world::thread {
  fiber_context at;
  std::unique_ptr<char[]> stack;
  std::function<void()> body;
  handled_exceptions handled;

  std::uint32_t number = 0, cpu = 0, core = 0;
  doing state = doing::runs;
  bool is_on_cpu = false;
  bool is_participant = true;
  std::uint32_t session = 0;
  // Since when it is on its CPU, and for how long it was before.
  sim_time on_cpu_since = 0, ran = 0;
  // The time that it has had, moved so that the threads of a CPU can be compared, and the fair time
  // at which its request of a slice ends.
  double fair_time = 0, deadline = 0;
  // How much more than the average of its CPU it had had when it left the CPU, and that average.
  double ahead = 0, average_left = 0;
  // How much work is left, since when it does it, and which event tells that it is done.
  sim_time work_left = 0, works_since = 0;
  std::uint64_t work_ticket = 0;
  // What it is to do when it gets its CPU again: nothing is due while it polls.
  bool has_work = false;

  // The last load: where, what the line's version was, and the value.
  line* polled = nullptr;
  std::uint64_t version = 0, value = 0;
  // Operations since the last pause, to know a poll.
  std::uint32_t loads = 0, others = 0;
  // When its polls began to be skipped, and how far they are apart.
  sim_time polls_since = 0, poll_gap = 0;

  // Which line it loaded after which, one directly after the other, and the last one it loaded.
  std::unordered_map<std::uint32_t, line*> followers;
  line* loaded_last = nullptr;
  // Lines that it loads ahead and that are on their way, with the time when they come.
  struct early_line {
    line* at;
    sim_time comes_at;
  };
  std::vector<early_line> early;

  std::vector<pending_store> stores;
  bool drains = false;

  // What it waits for.
  line* waits_for = nullptr;
  access wants = access::read;
  const void* sleeps_on = nullptr;
  std::uint64_t timeout_ticket = 0;
  std::uint32_t joins = 0;
  // When the handlers of the interrupts begin that it has not awaited yet.
  std::deque<sim_time> interrupts;
  std::vector<std::uint32_t> joiners;
  const char* site = nullptr;
  sim_time since = 0;

  objects_of_thread locals;
};

}  // namespace tutti::sim
