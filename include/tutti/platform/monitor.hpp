// SPDX-License-Identifier: Apache-2.0
// Instructions that halt a core until a cache line changes: umwait (Intel), mwaitx (AMD), wfe (Arm).
// All are compiled wherever the compiler knows them; the one to use is detected at run time.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/pause.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tutti::platform {

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

// Detected once: a load afterwards.
inline monitor_kind monitor() noexcept {
  static const monitor_kind kind = detect_monitor();
  return kind;
}

#if defined(__x86_64__)
// The longest nap, in TSC ticks (tens of microseconds): a bound on how late a deadline is noticed. The kernel caps
// it as well (/sys/devices/system/cpu/umwait_control).
inline constexpr std::uint64_t nap_ticks = 100'000;

// The instructions themselves: the intrinsics stand in a header of 47,000 lines, a third of what tutti::barrier includes.
// Both end at `until` of the time stamp counter. State 1 (C0.1): the lighter sleep, which wakes faster.
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

// Each arms the monitor, looks once more (a change before the arming would not wake), then halts.
template <class Changed>
void nap_umwait(const void* line, Changed changed) noexcept {
  asm volatile("umonitor %0" ::"r"(line) : "memory");
  if (!changed()) umwait(__builtin_ia32_rdtsc() + nap_ticks);
}

template <class Changed>
void nap_mwaitx(const void* line, Changed changed) noexcept {
  asm volatile("monitorx" ::"a"(line), "c"(0u), "d"(0u) : "memory");
  // Extension bit 1: the timer in the third operand is in use.
  if (!changed())
    asm volatile("mwaitx" ::"a"(0u), "c"(2u), "b"(static_cast<std::uint32_t>(nap_ticks))
                 : "memory");
}

// A pause of so many ticks in the light sleep state.
inline void tpause(std::uint64_t ticks) noexcept { tpause_until(__builtin_ia32_rdtsc() + ticks); }
#endif

// A longer pause for waits that have begun to last: in the core's light sleep where it has one (about 100 ns, what a
// pause takes on the Intel cores since 2015), otherwise as pause().
inline void long_pause() noexcept {
#if defined(__x86_64__)
  constexpr std::uint64_t ticks = 250;
  if (monitor() == monitor_kind::umwait) return tpause(ticks);
#endif
  poll_gap();
}

// Halts until `word` changes or an unspecified short time has passed; `changed` looks at the word.
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
  // A load-exclusive arms the monitor; the line's loss is an event. The kernel's event stream bounds the wait.
  std::uint32_t ignored = 0;
  asm volatile("ldaxr %w0, [%1]" : "=r"(ignored) : "r"(&word) : "memory");
  if (!changed()) asm volatile("wfe" ::: "memory");
  return;
#endif
  if (!changed()) poll_gap();
}

}  // namespace tutti::platform
