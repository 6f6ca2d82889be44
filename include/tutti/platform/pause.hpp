// SPDX-License-Identifier: Apache-2.0
// The pause between two polls: it tells the core that this is a waiting loop, and keeps the waiter
// from reading the cache line for a short time.
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/minmax.hpp"

namespace tutti::platform {

// On x86 it takes 5 to 45 ns, leaves the pipeline to the other hyper-thread, and avoids the
// pipeline flush after mis-speculation when the word changes. On other processors it is the nearest
// equivalent, or only a compiler barrier.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `yield` has no effect on most cores; isb takes about as long as an x86 pause.
  asm volatile("isb" ::: "memory");
#elif defined(__riscv)
  // `pause` of Zihintpause, which has no effect on cores without that extension.
  asm volatile(".insn i 0x0F, 0, x0, x0, 0x010" ::: "memory");
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

// Nanoseconds between two polls. A poll while the partner is writing takes the line away from the
// partner, which must fetch it back: two transfers more. A partner that has just received the line
// needs it for about 20 to 40 ns. A longer gap would delay the waiter noticeably.
inline constexpr unsigned poll_gap_ns = 40;

#if TUTTI_HOSTED
namespace detail {
// Counts the pauses that fill the gap, because a pause takes 5 ns on some processors and 45 ns on
// others. The result is between 1 and 16.
inline unsigned measure_pauses_between_polls() noexcept {
  constexpr unsigned pauses = 64, tries = 5;
  std::uint64_t shortest = UINT64_MAX;
  for (unsigned i = 0; i < tries; ++i) {
    const std::uint64_t start = now_ns();
    for (unsigned k = 0; k < pauses; ++k) pause();
    shortest = smaller(shortest, now_ns() - start);
  }
  const std::uint64_t wanted =
      (std::uint64_t{poll_gap_ns} * pauses + shortest / 2) / larger<std::uint64_t>(shortest, 1);
  return static_cast<unsigned>(within<std::uint64_t>(wanted, 1, 16));
}
}  // namespace detail
// Measured when the program starts, which takes about 4 us. Until then it is 0, which has the
// effect of 1.
TUTTI_API inline const unsigned pauses_between_polls = detail::measure_pauses_between_polls();
#else
inline constexpr unsigned pauses_between_polls = 1;
#endif

// Waits about poll_gap_ns.
inline void poll_gap() noexcept {
  pause();
  for (unsigned i = 1; i < pauses_between_polls; ++i) pause();
}

}  // namespace tutti::platform
