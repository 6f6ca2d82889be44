// SPDX-License-Identifier: Apache-2.0
// Wait states for participants without a rank: what a thread has learnt about waiting at a barrier,
// found again by the address of the barrier.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti {

// Returns this thread's state for the barrier at `address`. Two barriers may share a state, which
// is correct because its content only affects speed.
template <class State>
State& state_of_this_thread([[maybe_unused]] const void* address) noexcept {
#if TUTTI_HOSTED
  constexpr std::uintptr_t count = 8;
  thread_local State states[count]{};
  return states[reinterpret_cast<std::uintptr_t>(address) / cache_line % count];
#else
  static State state{};
  return state;
#endif
}

}  // namespace tutti
