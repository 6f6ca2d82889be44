// SPDX-License-Identifier: Apache-2.0
// Where the threads of a round meet outside what is timed: blocking (a waiter leaves its core to
// others), and spinning (all leave within about a line transfer of each other).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "tutti/platform/config.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::bench {

// A mutex, a condition variable, a count and a generation, as everyone writes it.
class blocking_gate {
 public:
  explicit blocking_gate(rank_t participants) : participants_(participants) {}

  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t generation = generation_;
    if (++arrived_ == participants_) {
      arrived_ = 0;
      ++generation_;
      opened_.notify_all();
      return;
    }
    opened_.wait(lock, [&] { return generation_ != generation; });
  }

 private:
  const rank_t participants_;
  std::mutex mutex_;
  std::condition_variable opened_;
  rank_t arrived_ = 0;
  std::uint64_t generation_ = 0;
};

// For one use. Only where every participant has a core of its own.
class starting_line {
 public:
  explicit starting_line(rank_t participants) : missing_(participants) {}

  void arrive_and_wait() {
    // release: publishes what this participant prepared; pairs with the loads of all.
    missing_.fetch_sub(1, release);
    // acquire: sees what all prepared; pairs with their subtractions.
    while (missing_.load(acquire) != 0) platform::pause();
  }

 private:
  alignas(cache_line) std::atomic<rank_t> missing_;
};

}  // namespace tutti::bench
