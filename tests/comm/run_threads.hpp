// SPDX-License-Identifier: Apache-2.0
// Threads that run a function each as a participant, and report their errors.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tutti/comm/communicator.hpp"

namespace tutti {

// Runs body(rank) on a thread each. Throws the first exception after all threads have ended.
inline void run_threads(rank_t participants, const std::function<void(rank_t)>& body) {
  std::vector<std::exception_ptr> failures(participants);
  std::vector<std::thread> threads;
  for (rank_t rank = 0; rank < participants; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const std::exception& e) {
        // Printed at once, because the others may now wait for ever.
        std::fprintf(stderr, "rank %u: %s\n", rank, e.what());
        failures[rank] = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// For a participant that finds an error: throws an exception, so that run_threads reports it and
// gtest stays single-threaded.
inline void must(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

// Receives and releases all messages that are here, and calls f(message) for each.
template <class F>
std::uint64_t drain(endpoint& me, F&& f) {
  std::uint64_t count = 0;
  for (; me.can_recv(); ++count) {
    const received message = me.recv();
    f(message);
    me.release(message);
  }
  return count;
}
inline std::uint64_t drain(endpoint& me) {
  return drain(me, [](const received&) {});
}

// Receives until all are idle. Returns true if the end was unanimous.
template <class F>
bool finish(endpoint& me, bool vote, F&& f) {
  for (;;) {
    const idle_result now = me.idle(vote);
    if (now != idle_result::message) return now == idle_result::unanimous;
    drain(me, f);
  }
}
inline bool finish(endpoint& me, bool vote) {
  return finish(me, vote, [](const received&) {});
}

}  // namespace tutti
