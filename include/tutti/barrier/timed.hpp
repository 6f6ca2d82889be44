// SPDX-License-Identifier: Apache-2.0
// Waits with a deadline: the conversion of std::chrono's durations, and the result of such a wait.
// Hosted only: it needs std::chrono and std::vector.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "tutti/platform/hosted.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

// The result of a wait with a deadline. It converts to true if all arrived in time.
struct timed_result {
  bool in_time = false;
  std::uint64_t phase = 0;
  // The number of arrivals that the phase lacked at the deadline.
  rank_t missing = 0;
  // The missing ranks, in ascending order. It is empty if no participant has arrived with a rank.
  std::vector<rank_t> missing_ranks;
  explicit operator bool() const noexcept { return in_time; }
};

// Returns the instant `timeout` from now. It is now if `timeout` is not positive, and the clock's
// range limits it.
template <class Memory = native, class Rep, class Period>
deadline deadline_after(std::chrono::duration<Rep, Period> timeout) noexcept {
  // Compared as floating point: seconds::max() counted in nanoseconds would overflow.
  const std::chrono::duration<double, std::nano> approximate = timeout;
  // 146 years.
  constexpr std::uint64_t longest = INT64_MAX / 2;
  if (!(approximate.count() > 0)) return deadline(Memory::now_ns());
  if (approximate.count() >= static_cast<double>(longest))
    return deadline(Memory::now_ns() + longest);
  const auto ns = std::chrono::ceil<std::chrono::nanoseconds>(timeout).count();
  return deadline(Memory::now_ns() + static_cast<std::uint64_t>(ns));
}

}  // namespace tutti
