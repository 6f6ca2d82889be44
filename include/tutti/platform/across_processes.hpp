// SPDX-License-Identifier: Apache-2.0
// The platform of algorithms whose participants are processes that share memory. It is
// `native`, except that waiters and wakers find each other by the location of the word in that
// memory, and that the processes share what they have learned about each core.
// Hosted only: there are no processes without an operating system.
#pragma once

#include <cstdint>

#include "tutti/platform/futex.hpp"
#include "tutti/platform/hosted.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

struct across_processes : native {
  static void park(const atomic<std::uint32_t>& word, std::uint32_t seen,
                   std::uint64_t deadline_ns) noexcept {
    sleep(&word, seen, deadline_ns);
  }
  static void park(const atomic<std::uint64_t>& word, std::uint64_t seen,
                   std::uint64_t deadline_ns) noexcept {
    sleep(platform::low_half(word), static_cast<std::uint32_t>(seen), deadline_ns);
  }
  static void unpark(const atomic<std::uint32_t>& word) noexcept {
    platform::futex_wake_all(&word, platform::futex_scope::machine);
  }
  static void unpark(const atomic<std::uint64_t>& word) noexcept {
    platform::futex_wake_all(platform::low_half(word), platform::futex_scope::machine);
  }
  static void unpark_one(const atomic<std::uint32_t>& word) noexcept {
    platform::futex_wake_one(&word, platform::futex_scope::machine);
  }

  // The table, with platform::core_slots entries, in which this thread's communicator keeps what it
  // has learned about the node's cores. A waiter is identified by an address, which two processes
  // share only if addresses are not randomized. With randomized addresses each process waits as if
  // its cores were its own: slower, but correct.
  static inline thread_local platform::cpu_hints* node_hints = platform::hints_of_cpus;
  static platform::cpu_hints& core() noexcept {
    return node_hints[platform::current_cpu() % platform::core_slots];
  }

 private:
  static void sleep(const void* word, std::uint32_t seen, std::uint64_t deadline_ns) noexcept {
    if (!platform::park_fiber(word, seen, deadline_ns))
      platform::futex_wait(word, seen, deadline_ns, platform::futex_scope::machine);
  }
};

}  // namespace tutti
