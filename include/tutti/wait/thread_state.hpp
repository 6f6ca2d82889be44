// SPDX-License-Identifier: Apache-2.0
// Wait states for participants without a rank: what a thread has learnt about waiting at a barrier,
// found again by the address of the barrier.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

namespace detail {
// Without an operating system the native platform has one object for all threads.
inline constexpr std::uintptr_t states_of_a_thread = TUTTI_HOSTED ? 8 : 1;

template <class State>
struct thread_states {
  State of[states_of_a_thread]{};
};
}  // namespace detail

// Returns this thread's state for the barrier at `address`. Two barriers may share a state, which
// is correct because its content only affects speed.
template <class State, class Memory = native>
State& state_of_this_thread(const void* address) noexcept {
  const std::uintptr_t line = reinterpret_cast<std::uintptr_t>(address) / cache_line;
  return Memory::template local<detail::thread_states<State>>()
      .of[line % detail::states_of_a_thread];
}

}  // namespace tutti
