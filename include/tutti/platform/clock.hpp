// SPDX-License-Identifier: Apache-2.0
// Time for deadlines and for the adaptive wait policy.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <time.h>
#endif

namespace tutti::platform {

// Nanoseconds of the monotonic clock; the same clock as std::chrono::steady_clock on Linux.
inline std::uint64_t now_ns() noexcept {
#if TUTTI_HOSTED
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
#else
  return 0;  // no clock: waits without a deadline never ask
#endif
}

}  // namespace tutti::platform
