// SPDX-License-Identifier: Apache-2.0
// Whether the quota of a control group has stopped threads of this process. Headers alone do not
// know the quota; with the compiled library they do.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti::platform {

namespace detail {
struct cpu_limits {
  // Returns the quota in CPUs, or 0 if there is none.
  double (*quota)() noexcept = nullptr;
  std::uint64_t (*throttled_ns)() noexcept = nullptr;
};
}  // namespace detail

// The compiled library sets it (cpu_quota.hpp).
TUTTI_API inline constinit detail::cpu_limits cpu_limits{};

// Returns for how many nanoseconds the control group's quota has stopped this process's threads so
// far, summed over the CPUs. A thread's run delay (schedstat) may contain this time although no
// other process caused it. Returns 0 if there is no quota, and without the compiled library.
// Thread-safe. If there is a quota, each call reads a file, so call it on slow paths only.
inline std::uint64_t throttled_ns() noexcept {
  return cpu_limits.throttled_ns == nullptr ? 0 : cpu_limits.throttled_ns();
}

// Tells threads that were kept from running whether the quota was the reason. Thread-safe.
class quota_stops {
 public:
  // Returns true if a stop has ended since `began_ns`, for a caller that has not run from then
  // until `now_ns` and was ready to. The first call finds how long the stops before it were, and
  // returns false.
  bool ended_since(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
    // relaxed: the values are hints and publish nothing else. If two threads ask at once, one of
    // them may take the stop for another process's slice.
    if (began_ns < found_at_.load(relaxed)) return true;
    const std::uint64_t total = throttled_ns();
    if (total == 0) return false;
    // relaxed: a hint, see above.
    const std::uint64_t before = total_ns_.exchange(total, relaxed);
    if (before == 0 || total <= before) return false;
    // relaxed: a hint, see above.
    found_at_.store(now_ns, relaxed);
    return true;
  }

 private:
  std::atomic<std::uint64_t> found_at_{0}, total_ns_{0};
};
TUTTI_API inline constinit quota_stops stops_by_quota{};

}  // namespace tutti::platform
