// SPDX-License-Identifier: Apache-2.0
// The clock for deadlines and for the adaptive wait policy.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <time.h>
#endif

namespace tutti::platform {

// Returns the monotonic clock in nanoseconds. On Linux std::chrono::steady_clock is the same clock.
inline std::uint64_t now_ns() noexcept {
#if TUTTI_HOSTED
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
#else
  // There is no clock. Only waits with a deadline ask for the time.
  return 0;
#endif
}

}  // namespace tutti::platform
