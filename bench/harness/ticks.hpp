// SPDX-License-Identifier: Apache-2.0
// The finest clock of the machine, for intervals of nanoseconds: the TSC, or the generic timer of
// Arm.
#pragma once

#include <cstdint>

#include "tutti/platform/clock.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tutti::bench {

// Now, without waiting for earlier instructions: for spinning until a time.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t t = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
#else
  return platform::now_ns();
#endif
}

// Now, after all earlier instructions and before all later ones.
inline std::uint64_t ordered_ticks() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t t = __rdtsc();
  _mm_lfence();
  return t;
#elif defined(__aarch64__)
  std::uint64_t t = 0;
  asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(t)::"memory");
  return t;
#else
  return platform::now_ns();
#endif
}

// Measured once against the monotonic clock, over 20 ms.
double ns_per_tick();

// What two back-to-back ordered_ticks() differ by: the mean of the middle half of many.
double timer_cost_ns();

inline double to_ns(std::int64_t tick_count) {
  return static_cast<double>(tick_count) * ns_per_tick();
}
inline double to_ns(std::uint64_t tick_count) {
  return static_cast<double>(tick_count) * ns_per_tick();
}

std::uint64_t from_ns(double ns);

// Busy until `ns` have passed.
void spin_for_ns(double ns);

// Work that takes about `ns` of processor time, and longer by the clock where the thread loses its
// CPU meanwhile.
void work_for_ns(double ns);

// Processor time of the calling thread, and of the whole process, ns.
double thread_cpu_ns();
double process_cpu_ns();

}  // namespace tutti::bench
