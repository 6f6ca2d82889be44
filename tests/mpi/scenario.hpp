// SPDX-License-Identifier: Apache-2.0
// The tests' work on the processes that an MPI's launcher has started: one scenario after another,
// each on a new communicator. A scenario that finds an error throws.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tutti/mpi/communicator.hpp"

namespace tutti::test {

struct scenario {
  std::string_view name;
  void (*run)(const mpi::calls& mpi, const mpi::options& chosen);
};

extern const std::vector<scenario> traffic_scenarios;
extern const std::vector<scenario> agreement_scenarios;
extern const std::vector<scenario> fault_scenarios;
extern const std::vector<scenario> stress_scenarios;

// What random messages begin with.
struct letter {
  std::uint32_t episode = 0;
  // The number among the messages of this source to this destination.
  std::uint32_t number = 0;
  // How often it is to be answered.
  std::uint32_t hops = 0;
  // The size of the whole message.
  std::uint32_t bytes = sizeof(letter);
};

inline void expect(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}
template <class A, class B>
void expect_equal(const A& found, const B& wanted, const std::string& what) {
  if (!(found == wanted))
    throw std::logic_error(what + ": found " + std::to_string(found) + ", wanted " +
                           std::to_string(wanted));
}

// Requires that made() throws std::invalid_argument with that part of a sentence.
template <class Made>
void expect_refused(const std::string& part, Made made) {
  try {
    made();
  } catch (const std::invalid_argument& error) {
    expect(std::string(error.what()).find(part) != std::string::npos,
           std::string("refused with another reason: ") + error.what());
    return;
  }
  throw std::logic_error("not refused: " + part);
}

// Calls body(endpoint) for each participant of this process, on a thread of its own. Throws the
// first exception of any of them.
template <class Body>
void on_all_participants(mpi::communicator& comm, Body body) {
  std::exception_ptr first;
  std::mutex mutex;
  const auto guarded = [&](rank_t thread) {
    try {
      body(comm.local(thread));
    } catch (const std::exception& error) {
      // Printed at once, because the others may wait for this one.
      std::printf("participant %u: %s\n", comm.local(thread).rank(), error.what());
      std::fflush(stdout);
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  for (rank_t thread = 1; thread < comm.threads(); ++thread) others.emplace_back(guarded, thread);
  guarded(0);
  for (std::thread& one : others) one.join();
  if (first) std::rethrow_exception(first);
}

// A repeatable stream of numbers.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t state_;
};

// Receives all messages that are there and calls take(message) for each.
template <class Take>
void receive_all(mpi::endpoint& me, Take take) {
  while (me.can_recv()) {
    const received message = me.recv();
    take(message);
    me.release(message);
  }
}
template <class Take>
void send_receiving(mpi::endpoint& me, rank_t to, const void* data, std::size_t bytes, Take take) {
  while (!me.try_send(to, data, bytes)) receive_all(me, take);
}
template <class Take>
idle_result idle_receiving(mpi::endpoint& me, bool vote, Take take) {
  for (;;) {
    receive_all(me, take);
    const idle_result now = me.idle(vote);
    if (now != idle_result::message) return now;
  }
}

}  // namespace tutti::test
