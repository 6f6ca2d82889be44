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

// Tells threads that were kept from running whether the quota was the reason, and for which part of
// the time waiters therefore sleep instead of polling. If all poll, the quota is used up before its
// period is over, and the group stops; if all sleep, each wait costs a wake-up although processor
// time is left. So each stop makes the part larger, it shrinks as long as there is none, and the
// processor time that polling takes settles where the quota is just not used up. All threads read
// one clock, so all poll and sleep at the same time.
class quota_stops {
  // A turn of sleeping and polling has this many steps, of which each stop forbids polling in a
  // quarter of those that are left, and each of these times without a stop allows it in one more.
  static constexpr std::uint64_t steps = 1u << 16, ns_until_allowed = 250'000;

 public:
  // The length of a turn: much shorter than a quota's period, which is mostly 100 ms, and much
  // longer than a wake-up.
  static constexpr std::uint64_t turn_ns = steps * 128;

  // Returns true if a stop has ended since `began_ns`, for a caller that has not run from then
  // until `now_ns` and was ready to. The first call finds how long the stops before it were, and
  // returns false. Thread-safe.
  bool ended_since(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
    // relaxed: the values are hints and publish nothing else. If two threads ask at once, one of
    // them may take the stop for another process's slice.
    if (began_ns < found_at_.load(relaxed)) return true;
    const std::uint64_t total = throttled_ns();
    if (total == 0) return false;
    // relaxed: a hint, see above.
    const std::uint64_t before = total_ns_.exchange(total, relaxed);
    if (before == 0 || total <= before) return false;
    note_stop(now_ns);
    return true;
  }
  // Records a stop that ended by `now_ns`. Thread-safe.
  void note_stop(std::uint64_t now_ns) noexcept {
    const std::uint64_t asleep = steps_asleep(now_ns), more = asleep + (steps - asleep) / 4;
    // relaxed: hints, see above.
    found_at_.store(now_ns, relaxed);
    polled_at_.store(now_ns + more * ns_until_allowed, relaxed);
  }
  // Returns true if a waiter should not poll at the time `now_ns`, because the quota is scarce.
  // Thread-safe.
  bool forbid_polling(std::uint64_t now_ns) const noexcept {
    return now_ns % turn_ns < steps_asleep(now_ns) * (turn_ns / steps);
  }

 private:
  std::uint64_t steps_asleep(std::uint64_t now_ns) const noexcept {
    // relaxed: a hint, see above.
    const std::uint64_t until = polled_at_.load(relaxed);
    const std::uint64_t left = until > now_ns ? (until - now_ns) / ns_until_allowed : 0;
    return left < steps ? left : steps;
  }
  // When the last stop was found; for how long the group was stopped in all; from when on waiters
  // may poll all the time.
  std::atomic<std::uint64_t> found_at_{0}, total_ns_{0}, polled_at_{0};
};
TUTTI_API inline constinit quota_stops stops_by_quota{};

}  // namespace tutti::platform
