// SPDX-License-Identifier: Apache-2.0
// The platform of algorithms whose participants are processes that share memory. It is
// `native`, except that waiters and wakers find each other by the location of the word in that
// memory, and that the processes share what they have learned about each core.
// Hosted only: there are no processes without an operating system.
#pragma once

#include <cstdint>

#include "tutti/platform/hosted.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/parking.hpp"

namespace tutti {

struct across_processes : native, platform::parking<platform::futex_scope::machine> {
  using in_shared_memory = platform::parking<platform::futex_scope::machine>;
  using in_shared_memory::can_park, in_shared_memory::park, in_shared_memory::unpark,
      in_shared_memory::unpark_one;

  // The table, with platform::core_slots entries, in which this thread's communicator keeps what it
  // has learned about the node's cores. A waiter is identified by an address, which two processes
  // share only if addresses are not randomized. With randomized addresses each process waits as if
  // its cores were its own: slower, but correct.
  static inline thread_local platform::cpu_hints* node_hints = platform::hints_of_cpus;
  static platform::cpu_hints& core() noexcept {
    return node_hints[platform::current_cpu() % platform::core_slots];
  }
  // Only a wait is sure to find the table: it may be that of a communicator that was freed since
  // this thread last waited.
  static void note_running() = delete;
};

}  // namespace tutti
