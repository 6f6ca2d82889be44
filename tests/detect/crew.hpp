// SPDX-License-Identifier: Apache-2.0
// Threads that run a function each as a participant, and what they say went wrong.
#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tutti/detect/communicator.hpp"

namespace tutti {

// Runs body(rank) on a thread each. The first exception is thrown on after all have ended.
inline void run_crew(rank_t participants, const std::function<void(rank_t)>& body) {
  std::vector<std::exception_ptr> failures(participants);
  std::vector<std::thread> threads;
  for (rank_t rank = 0; rank < participants; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const std::exception& e) {
        // At once: the others may now wait for ever.
        std::fprintf(stderr, "rank %u: %s\n", rank, e.what());
        failures[rank] = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

// Of a participant that finds something wrong: an exception, so that run_crew reports it and gtest stays single-threaded.
inline void must(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

// Receives and releases all that is here. f(message).
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

// Until all are idle: true if unanimous.
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
