// SPDX-License-Identifier: Apache-2.0
// Waits with a deadline: how long in std::chrono's terms, and what such a wait tells.
// Hosted only: std::chrono and std::vector.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

// What a wait with a deadline tells. True if everybody arrived in time.
struct timed_result {
  bool in_time = false;
  std::uint64_t phase = 0;
  rank_t missing = 0;  // arrivals that the phase lacked at the deadline
  std::vector<rank_t>
      missing_ranks;  // those that are known by rank: arrived as a rank before, or will
  explicit operator bool() const noexcept { return in_time; }
};

// `timeout` from now on: at once if it is not positive, and no later than the clock can tell.
template <class Memory = native, class Rep, class Period>
deadline deadline_after(std::chrono::duration<Rep, Period> timeout) noexcept {
  // Compared as floating point: seconds::max() counted in nanoseconds would overflow.
  const std::chrono::duration<double, std::nano> approximate = timeout;
  constexpr std::uint64_t longest = INT64_MAX / 2;  // a century and a half
  if (!(approximate.count() > 0)) return deadline(Memory::now_ns());
  if (approximate.count() >= static_cast<double>(longest))
    return deadline(Memory::now_ns() + longest);
  const auto ns = std::chrono::ceil<std::chrono::nanoseconds>(timeout).count();
  return deadline(Memory::now_ns() + static_cast<std::uint64_t>(ns));
}

}  // namespace tutti
