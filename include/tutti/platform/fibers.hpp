// SPDX-License-Identifier: Apache-2.0
// If a thread runs several participants as fibers (the virtual ranks of a team), a wait must not
// keep the core but let the next fiber run. Each waiting function of the native platform calls
// switch_fiber() or park_fiber() first, so every wait policy supports fibers without naming them.
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/futex.hpp"

namespace tutti::platform {

#if TUTTI_HOSTED

// Runs the fibers of one thread. src/team/fibers.cpp implements it.
class fiber_host {
 public:
  // Lets the other fibers of this thread run and returns when it is this fiber's turn again.
  // Returns false if there is no other fiber.
  virtual bool switch_fiber() noexcept = 0;
  // Does the same for a long wait, which ends when `word` does not hold `seen` any more and a
  // thread wakes its sleepers, or at `deadline_ns` (monotonic clock). Once all fibers of the thread
  // call it, the thread sleeps until the wait of one of them ends. Where the system cannot sleep on
  // several words, it sleeps on one of them for a short time.
  virtual bool park_fiber(const void* word, std::uint32_t seen, std::uint64_t deadline_ns,
                          futex_scope scope) noexcept = 0;

 protected:
  ~fiber_host() = default;
};

// The host of the running thread, or null if the thread runs no fibers, which is the common case
// and costs a waiting loop one load.
TUTTI_API inline constinit thread_local fiber_host* fibers_here = nullptr;

// Return true if they let other fibers run.
inline bool switch_fiber() noexcept {
  if (fibers_here == nullptr) [[likely]]
    return false;
  return fibers_here->switch_fiber();
}

inline bool park_fiber(const void* word, std::uint32_t seen, std::uint64_t deadline_ns,
                       futex_scope scope) noexcept {
  if (fibers_here == nullptr) [[likely]]
    return false;
  return fibers_here->park_fiber(word, seen, deadline_ns, scope);
}

#else

constexpr bool switch_fiber() noexcept { return false; }

#endif

}  // namespace tutti::platform
