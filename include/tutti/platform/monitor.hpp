// SPDX-License-Identifier: Apache-2.0
// Instructions that halt a core until a cache line changes: umwait (Intel), mwaitx (AMD), wfe
// (Arm). All instructions of the target architecture are compiled; detection at run time chooses
// one.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/found_once.hpp"
#include "tutti/platform/pause.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tutti::platform {

// The instruction that the CPU has; `none` if it has none of them.
enum class monitor_kind : std::uint8_t { none, umwait, mwaitx, wfe };

inline const char* name_of(monitor_kind kind) noexcept {
  switch (kind) {
    case monitor_kind::umwait: return "umwait";
    case monitor_kind::mwaitx: return "mwaitx";
    case monitor_kind::wfe: return "wfe";
    case monitor_kind::none: break;
  }
  return "none";
}

inline monitor_kind detect_monitor() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & (1u << 5))) return monitor_kind::umwait;
  if (__get_cpuid(0x8000'0001, &a, &b, &c, &d) && (c & (1u << 29))) return monitor_kind::mwaitx;
  return monitor_kind::none;
#elif defined(__aarch64__)
  return monitor_kind::wfe;
#else
  return monitor_kind::none;
#endif
}

// Returns the kind of this machine. The first call detects it; later calls load it.
inline monitor_kind monitor() noexcept {
  constexpr auto unknown = static_cast<monitor_kind>(0xff);
  static constinit found_once<monitor_kind> kind{unknown};
  return kind.get(detect_monitor);
}

#if defined(__x86_64__)
// The longest nap in ticks of the time stamp counter, which is tens of microseconds. A deadline is
// noticed at most this late. The kernel also limits naps (/sys/devices/system/cpu/umwait_control).
inline constexpr std::uint64_t nap_ticks = 100'000;

// The instructions are written in assembly because the header of their intrinsics has 47,000 lines,
// a third of what tutti::barrier includes. Both end when the time stamp counter reaches `until`.
// Operand 1 chooses state C0.1, the lighter sleep, which wakes faster.
inline void umwait(std::uint64_t until) noexcept {
  asm volatile("umwait %0" ::"r"(1u), "d"(static_cast<std::uint32_t>(until >> 32)),
               "a"(static_cast<std::uint32_t>(until))
               : "cc", "memory");
}
inline void tpause_until(std::uint64_t until) noexcept {
  asm volatile("tpause %0" ::"r"(1u), "d"(static_cast<std::uint32_t>(until >> 32)),
               "a"(static_cast<std::uint32_t>(until))
               : "cc", "memory");
}

// Each function arms the monitor, then looks at the word once more, because a change before the
// arming would not wake the core, and then halts.
template <class Changed>
void nap_umwait(const void* line, Changed changed) noexcept {
  asm volatile("umonitor %0" ::"r"(line) : "memory");
  if (!changed()) umwait(__builtin_ia32_rdtsc() + nap_ticks);
}

template <class Changed>
void nap_mwaitx(const void* line, Changed changed) noexcept {
  asm volatile("monitorx" ::"a"(line), "c"(0u), "d"(0u) : "memory");
  // Extension bit 1 enables the timer in the third operand.
  if (!changed())
    asm volatile("mwaitx" ::"a"(0u), "c"(2u), "b"(static_cast<std::uint32_t>(nap_ticks))
                 : "memory");
}

// Pauses for `ticks` of the time stamp counter in the light sleep state.
inline void tpause(std::uint64_t ticks) noexcept { tpause_until(__builtin_ia32_rdtsc() + ticks); }
#endif

// A longer pause, for waits that already take long: about 100 ns in the core's light sleep if it
// has one (about what a pause instruction takes on Intel cores since 2015), otherwise poll_gap().
inline void long_pause() noexcept {
#if defined(__x86_64__)
  constexpr std::uint64_t ticks = 250;
  if (monitor() == monitor_kind::umwait) return tpause(ticks);
#endif
  poll_gap();
}

// Halts until `word` changes or an unspecified short time has passed. `changed` reads the word and
// tells whether the wait is over.
template <class Word, class Changed>
void nap([[maybe_unused]] const Word& word, Changed changed) noexcept {
  if (switch_fiber()) return;
#if defined(__x86_64__)
  switch (monitor()) {
    case monitor_kind::umwait: return nap_umwait(&word, changed);
    case monitor_kind::mwaitx: return nap_mwaitx(&word, changed);
    default: break;
  }
#elif defined(__aarch64__)
  // A load-exclusive arms the monitor, and losing the line is an event that wakes the core. The
  // kernel's periodic event stream limits the wait.
  std::uint32_t ignored = 0;
  asm volatile("ldaxr %w0, [%1]" : "=r"(ignored) : "r"(&word) : "memory");
  if (!changed()) asm volatile("wfe" ::: "memory");
  return;
#endif
  if (!changed()) poll_gap();
}

}  // namespace tutti::platform
