// SPDX-License-Identifier: Apache-2.0
// The memory policy of algorithms whose participants are processes that share memory: `native`, but sleepers and wakers
// find each other by the place of the word in that memory, and what is learnt about a core is shared as well.
#pragma once

#include <cstdint>

#include "tutti/platform/futex.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::mpi {

struct across_processes : native {
  static void park(const atomic<std::uint32_t>& word, std::uint32_t seen,
                   std::uint64_t deadline_ns) noexcept {
    if (!platform::park_fiber(&word, seen, deadline_ns))
      platform::futex_wait(&word, seen, deadline_ns, platform::futex_scope::machine);
  }
  static void unpark(const atomic<std::uint32_t>& word) noexcept {
    platform::futex_wake_all(&word, platform::futex_scope::machine);
  }

  // Where this thread's communicator keeps what is known of the node's cores: platform::core_slots entries. A waiter's
  // name is an address, which two processes have in common only where addresses are not randomized: then their waits are
  // those of processes with cores of their own, slower but right.
  static inline thread_local platform::core_habits* node_habits = platform::habits_of_cores;
  static platform::core_habits& core() noexcept {
    return node_habits[platform::current_cpu() % platform::core_slots];
  }
};

}  // namespace tutti::mpi
