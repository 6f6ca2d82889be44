// SPDX-License-Identifier: Apache-2.0
// One polite poll: tells the core that this is a waiting loop, and leaves the line alone for a while.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::platform {

// x86: 5 to 45 ns, leaves the pipeline to the other hyper-thread and avoids the mis-speculation flush when
// the word changes. Elsewhere: the nearest equivalent, or only a compiler barrier.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile(
      "isb" ::
          : "memory");  // `yield` is a no-op on most cores; isb waits about as long as pause
#elif defined(__riscv)
  asm volatile(".insn i 0x0F, 0, x0, x0, 0x010" ::
                   : "memory");  // Zihintpause; a no-op where it is absent
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#else
  asm volatile("" ::: "memory");
#endif
}

// A poll that comes while the partner is writing takes the line away from it, and the partner has to fetch it back: two
// transfers more. A partner that has just got the line is done with it after some 20 to 40 ns. So polls are that far
// apart; longer would be noticed by whoever waits.
inline constexpr unsigned poll_gap_ns = 40;

#if TUTTI_HOSTED
namespace detail {
// A pause takes 5 ns on some processors and 45 on others.
inline unsigned measure_pauses_between_polls() noexcept {
  constexpr unsigned pauses = 64, tries = 5;
  std::uint64_t shortest = UINT64_MAX;
  for (unsigned i = 0; i < tries; ++i) {
    const std::uint64_t start = now_ns();
    for (unsigned k = 0; k < pauses; ++k) pause();
    shortest = std::min(shortest, now_ns() - start);
  }
  const std::uint64_t wanted =
      (std::uint64_t{poll_gap_ns} * pauses + shortest / 2) / std::max<std::uint64_t>(shortest, 1);
  return static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, 16));
}
}  // namespace detail
// Measured when the program starts: about 4 us. (0 until then, which polls as 1 does.)
TUTTI_API inline const unsigned pauses_between_polls = detail::measure_pauses_between_polls();
#else
inline constexpr unsigned pauses_between_polls = 1;
#endif

inline void poll_gap() noexcept {
  pause();
  for (unsigned i = 1; i < pauses_between_polls; ++i) pause();
}

}  // namespace tutti::platform
