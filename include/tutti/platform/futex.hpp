// SPDX-License-Identifier: Apache-2.0
// Sleeps until a 32-bit word changes, and wakes the threads that sleep on it (Linux futex(2)).
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

namespace tutti::platform {

inline constexpr std::uint64_t forever_ns = UINT64_MAX;

// Tells who shares the word: the threads of one process, or several processes of the machine. In
// the second case the kernel identifies the word by its place in the shared memory.
enum class futex_scope { process, machine };

#if TUTTI_HOSTED

// Sleeps until another thread wakes it, or until `deadline_ns` (monotonic clock). It returns at
// once if *word != expected, and it may return for no reason, so read the word again afterwards.
// The kernel compares *word with `expected` after a full memory barrier.
[[gnu::noinline]] inline void futex_wait(const void* word, std::uint32_t expected,
                                         std::uint64_t deadline_ns,
                                         futex_scope scope = futex_scope::process) noexcept {
  timespec until{};
  if (deadline_ns != forever_ns) {
    until.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000u);
    until.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000u);
  }
  // WAIT_BITSET takes an absolute time, so that an early return needs no arithmetic.
  const int operation =
      scope == futex_scope::process ? FUTEX_WAIT_BITSET_PRIVATE : FUTEX_WAIT_BITSET;
  syscall(SYS_futex, word, operation, expected, deadline_ns == forever_ns ? nullptr : &until,
          nullptr, FUTEX_BITSET_MATCH_ANY);
}

// Both never access *word, whose memory may already be freed.
[[gnu::noinline]] inline void futex_wake_all(const void* word,
                                             futex_scope scope = futex_scope::process) noexcept {
  const int operation = scope == futex_scope::process ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE;
  syscall(SYS_futex, word, operation, INT_MAX, nullptr, nullptr, 0);
}

// One of several words to sleep on. The kernel defines the layout.
struct futex_word {
  std::uint64_t expected = 0;
  std::uint64_t address = 0;
  std::uint32_t flags = 0;
  std::uint32_t reserved = 0;
  static futex_word of(const void* word, std::uint32_t expected, futex_scope scope) noexcept {
    constexpr std::uint32_t is_32_bits_wide = 2, is_private = 128;
    return {expected, reinterpret_cast<std::uintptr_t>(word),
            is_32_bits_wide | (scope == futex_scope::process ? is_private : 0)};
  }
  friend bool operator==(const futex_word&, const futex_word&) = default;
};
inline constexpr unsigned most_futex_words = 128;

// Does what futex_wait does for up to most_futex_words words: it returns as soon as a thread wakes
// one of them. Returns false, at once, if the kernel cannot do it (before Linux 5.16, or in a
// sandbox).
[[gnu::noinline]] inline bool futex_wait_any(const futex_word* words, unsigned count,
                                             std::uint64_t deadline_ns) noexcept {
  // The kernel's numbers of new system calls are the same on all processors.
  constexpr long futex_waitv = 449;
  struct {
    std::int64_t seconds, nanoseconds;
  } until{static_cast<std::int64_t>(deadline_ns / 1'000'000'000u),
          static_cast<std::int64_t>(deadline_ns % 1'000'000'000u)};
  const int error = errno;
  const long done = syscall(futex_waitv, words, count, 0u,
                            deadline_ns == forever_ns ? nullptr : &until, CLOCK_MONOTONIC);
  const bool is_possible = done >= 0 || errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
  errno = error;
  return is_possible;
}

inline void futex_wake_one(const void* word, futex_scope scope = futex_scope::process) noexcept {
  const int operation = scope == futex_scope::process ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE;
  syscall(SYS_futex, word, operation, 1, nullptr, nullptr, 0);
}
#endif

// Returns the address of the half of a 64-bit word that changes at each increment, because futexes
// are 32 bits wide.
inline const void* low_half(const std::atomic<std::uint64_t>& word) noexcept {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return reinterpret_cast<const char*>(&word) + 4;
#else
  return &word;
#endif
}

}  // namespace tutti::platform
