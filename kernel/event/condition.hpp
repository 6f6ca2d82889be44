// SPDX-License-Identifier: Apache-2.0
// Condition variables in the two forms of Hale and Dinda 2018, section IV.A. In both, signal() puts
// the waiting thread into the queue of ready threads of its core.
//   queued   that is all: the thread runs when its core's running thread yields or its slice ends
//   kicked   the signal also sends an interrupt to that core, which then runs the thread at once,
//            unless it is the signaller's own core
#pragma once

#include "kernel/core/mutex.hpp"
#include "kernel/core/park.hpp"

namespace tutti::kernel {

class condition {
 public:
  explicit condition(wake_up how = wake_up::kicked) noexcept : how_(how) {}

  // Unlocks the mutex, waits for a signal, and locks the mutex again. Returns false if the clock
  // reached `deadline` ticks first. It may return without a signal only at the deadline.
  bool wait(mutex& m, u64 deadline = never) noexcept {
    const bool is_signalled = park(
        this, [] { return true; }, deadline, [&m] { m.unlock(); });
    m.lock();
    return is_signalled;
  }

  // Wakes the thread that waits longest, or all. A signal without a waiter is forgotten. Handlers
  // and threads may call both, with the mutex or without. Return how many threads they woke.
  u32 signal() noexcept { return unpark(this, 1, how_); }
  u32 broadcast() noexcept { return unpark(this, ~u32{0}, how_); }

 private:
  wake_up how_;
};

}  // namespace tutti::kernel
