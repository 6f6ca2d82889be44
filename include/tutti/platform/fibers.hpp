// SPDX-License-Identifier: Apache-2.0
// When this thread carries several participants as fibers (virtual ranks of a team), a wait must not keep the core: it
// lets the next fiber run. Every way in which the native memory policy passes time asks here first, so that all wait
// policies and all that is built on them know of fibers without naming them.
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti::platform {

#if TUTTI_HOSTED

// Runs the fibers of one thread. Implemented in src/team/.
class fiber_host {
 public:
  // Lets the other fibers of this thread run; returns when it is this one's turn again. False if there is no other.
  virtual bool switch_fiber() noexcept = 0;
  // The same for a wait that has lasted: sleeps on `word` for a short time once all fibers of the thread do this.
  virtual bool park_fiber(const void* word, std::uint32_t seen,
                          std::uint64_t deadline_ns) noexcept = 0;

 protected:
  ~fiber_host() = default;
};

// Of the thread that is running; null outside of fibers, the common case: one load in a waiting loop.
TUTTI_API inline constinit thread_local fiber_host* fibers_here = nullptr;

// True if it let other fibers run.
inline bool switch_fiber() noexcept {
  if (fibers_here == nullptr) [[likely]]
    return false;
  return fibers_here->switch_fiber();
}

inline bool park_fiber(const void* word, std::uint32_t seen, std::uint64_t deadline_ns) noexcept {
  if (fibers_here == nullptr) [[likely]]
    return false;
  return fibers_here->park_fiber(word, seen, deadline_ns);
}

#else

constexpr bool switch_fiber() noexcept { return false; }

#endif

}  // namespace tutti::platform
