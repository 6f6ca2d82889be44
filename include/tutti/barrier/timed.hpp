// SPDX-License-Identifier: Apache-2.0
// Waits with a deadline: the conversion of std::chrono's durations, and the result of such a wait.
// Hosted only: it needs std::chrono and std::vector.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>
#include <vector>

#include "tutti/platform/hosted.hpp"
#include "tutti/platform/memory_shortage.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

// The result of a wait with a deadline. It converts to true if all arrived in time.
struct timed_result {
  bool in_time = false;
  std::uint64_t phase = 0;
  // The number of arrivals that the phase lacked at the deadline.
  rank_t missing = 0;
  // The missing ranks, in ascending order. It is empty if no participant has arrived with a rank,
  // and if there is no memory for it.
  std::vector<rank_t> missing_ranks;
  explicit operator bool() const noexcept { return in_time; }
};

namespace detail {
// Returns the result of a wait whose deadline has passed. each(report) calls report(rank) for each
// missing rank, in ascending order.
template <class Each>
timed_result late_result(std::uint64_t phase, Each each) {
  timed_result told{false, phase, 0, {}};
  const auto list = [&] { each([&](rank_t rank) { told.missing_ranks.push_back(rank); }); };
  if (fits_in_memory(list)) {
    told.missing = static_cast<rank_t>(told.missing_ranks.size());
  } else {
    told.missing_ranks.clear();
    each([&](rank_t) { ++told.missing; });
  }
  return told;
}

// Returns the nanoseconds of a time, rounded up: at least 0 and at most 146 years.
template <class Rep, class Period>
std::uint64_t ns_of(std::chrono::duration<Rep, Period> time) noexcept {
  // Compared as floating point: seconds::max() counted in nanoseconds would overflow.
  const std::chrono::duration<double, std::nano> approximate = time;
  constexpr std::uint64_t longest = INT64_MAX / 2;
  if (!(approximate.count() > 0)) return 0;
  if (approximate.count() >= static_cast<double>(longest)) return longest;
  // A unit of the time is `multiplier` / `divisor` nanoseconds.
  using unit = std::ratio_divide<Period, std::nano>;
  constexpr std::uint64_t multiplier = unit::num, divisor = unit::den;
  constexpr bool is_integer = std::is_integral_v<Rep> && sizeof(Rep) <= sizeof(std::uint64_t);
  if constexpr (is_integer && divisor <= UINT64_MAX / (multiplier + 1)) {
    // The rest of the division apart, because count * multiplier may overflow.
    const auto count = static_cast<std::uint64_t>(time.count());
    return count / divisor * multiplier + (count % divisor * multiplier + divisor - 1) / divisor;
  } else {
    const auto below = static_cast<std::uint64_t>(approximate.count());
    return below + (static_cast<double>(below) < approximate.count() ? 1 : 0);
  }
}
}  // namespace detail

// Returns the instant `timeout` from now. It is now if `timeout` is not positive, and the clock's
// range limits it.
template <class Memory = native, class Rep, class Period>
basic_deadline<Memory> deadline_after(std::chrono::duration<Rep, Period> timeout) noexcept {
  return basic_deadline<Memory>(Memory::now_ns() + detail::ns_of(timeout));
}

// Returns the instant `when`. A time of std::chrono::steady_clock is one of the platform's clock;
// another clock is asked once how far away the instant is, so later jumps of it change nothing.
template <class Memory = native, class Clock, class Duration>
basic_deadline<Memory> deadline_at(std::chrono::time_point<Clock, Duration> when) noexcept {
  if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>) {
    return basic_deadline<Memory>(detail::ns_of(when.time_since_epoch()));
  } else {
    const auto now = Clock::now();
    // Floating point shows first whether the unit that both times have in common can hold them and
    // their difference. It cannot if a time is in samples of sound, or is time_point::min().
    using seconds = std::chrono::duration<double>;
    const seconds end = when.time_since_epoch(), start = now.time_since_epoch();
    const seconds most = 0.99 * seconds((decltype(when - now)::max)());
    const auto fits = [most](seconds time) { return time < most && time > -most; };
    if (fits(start) && fits(end) && fits(end - start)) return deadline_after<Memory>(when - now);
    return deadline_after<Memory>(end - start);
  }
}

}  // namespace tutti
