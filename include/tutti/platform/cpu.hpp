// SPDX-License-Identifier: Apache-2.0
// Which CPU runs this thread, and whether another waiting thread of this process has been on it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/free_core.hpp"

#if TUTTI_HOSTED
#include <sched.h>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

inline std::uint32_t current_cpu() noexcept {
  const int cpu = sched_getcpu();  // a load from the rseq area since glibc 2.35: about 3 ns
  return cpu < 0 ? 0u : static_cast<std::uint32_t>(cpu);
}

// What the threads of this process have learnt about one CPU by waiting on it. Written only by threads that run
// there and only when something changes, so that on free cores it stays clean in every cache. All of it is hints:
// nothing is published through it.
class alignas(cache_line) core_habits {
 public:
  // Leaves my name; true if another thread has waited here since I last did. Then we share the core, and spinning
  // would keep off it the very thread that is being waited for.
  bool visited_by_another() noexcept {
    thread_local const char me = 0;  // its address is this thread's name
    // relaxed: a hint; a stale name costs one needless yield.
    if (last_waiter_.load(relaxed) == &me) return false;
    // relaxed: as above.
    if (last_waiter_.exchange(&me, relaxed) == nullptr) return false;
    seeker_of_free_cores.share_core();
    return true;
  }

  // A yield here lasted so long that the core must have gone to somebody who is no participant. Sleeping is
  // better than yielding for a while that grows as long as it keeps proving true.
  void lent_to_stranger(std::uint64_t now_ns) noexcept {
    constexpr std::uint32_t first_ms = 16, most_ms = 256;
    // relaxed: hints, as above.
    const std::uint32_t last_ms = stranger_ms_.load(relaxed);
    const std::uint32_t next_ms = last_ms == 0 ? first_ms : std::min(4 * last_ms, most_ms);
    stranger_ms_.store(next_ms, relaxed);
    stranger_until_.store(now_ns + next_ms * std::uint64_t{1'000'000}, relaxed);
  }
  bool has_stranger(std::uint64_t now_ns) const noexcept {
    // relaxed: a hint.
    return now_ns < stranger_until_.load(relaxed);
  }
  // After the time of shunning: one waiter at a time tries to yield, the others on this core go on sleeping. A try can
  // cost the stranger's whole slice, and all would pay it one after the other.
  bool may_try_yielding(std::uint64_t now_ns) noexcept {
    constexpr std::uint64_t turn_ns = 8'000'000;
    // relaxed: hints; two that try at once cost a slice more.
    if (has_stranger(now_ns) || now_ns < turn_until_.load(relaxed)) return false;
    turn_until_.store(now_ns + turn_ns, relaxed);
    return true;
  }
  // relaxed: a hint.
  bool had_stranger() const noexcept { return stranger_until_.load(relaxed) != 0; }
  // Yields have been short for as long as they were shunned: begin anew.
  void forget_stranger(std::uint64_t now_ns) noexcept {
    // relaxed: hints.
    if (now_ns <
        stranger_until_.load(relaxed) + stranger_ms_.load(relaxed) * std::uint64_t{1'000'000})
      return;
    stranger_ms_.store(0, relaxed);
    stranger_until_.store(0, relaxed);
  }

  static core_habits& here() noexcept;

 private:
  std::atomic<const void*> last_waiter_;
  std::atomic<std::uint64_t> stranger_until_;
  std::atomic<std::uint64_t> turn_until_;
  std::atomic<std::uint32_t> stranger_ms_;
};

inline constexpr std::uint32_t core_slots =
    256;  // CPUs beyond share an entry: needless yields at worst
TUTTI_API inline core_habits habits_of_cores[core_slots];
inline core_habits& core_habits::here() noexcept {
  return habits_of_cores[current_cpu() % core_slots];
}

#else

// One program on the machine: every core is its thread's own.
struct core_habits {
  bool visited_by_another() const noexcept { return false; }
  void lent_to_stranger(std::uint64_t) noexcept {}
  bool has_stranger(std::uint64_t) const noexcept { return false; }
  bool may_try_yielding(std::uint64_t) const noexcept { return true; }
  bool had_stranger() const noexcept { return false; }
  void forget_stranger(std::uint64_t) noexcept {}
  static core_habits& here() noexcept {
    static core_habits only;
    return only;
  }
};

#endif

}  // namespace tutti::platform
