// SPDX-License-Identifier: Apache-2.0
// What the processes of one machine need of the system: to sleep on a word that they share, and to know who of them has
// ended. Linux.
// Hosted only: there are no processes without an operating system.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/futex.hpp"

#if TUTTI_HOSTED
#include <poll.h>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

// As futex_wait, for a word in memory that several processes share: found by its place in that memory.
inline void shared_futex_wait(const void* word, std::uint32_t expected,
                              std::uint64_t deadline_ns) noexcept {
  timespec until{};
  if (deadline_ns != forever_ns) {
    until.tv_sec = static_cast<time_t>(deadline_ns / 1'000'000'000u);
    until.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000u);
  }
  syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected,
          deadline_ns == forever_ns ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

inline void shared_futex_wake_all(const void* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// A descriptor of a running process, which never means another one that got the same number later. To be closed with
// close_process(). Negative where the kernel has none (before Linux 5.3) or the process is gone.
inline int open_process(int pid) noexcept {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0u));
#else
  (void)pid;
  return -1;
#endif
}
inline bool has_ended(int process) noexcept {
  pollfd look{process, POLLIN, 0};
  return poll(&look, 1, 0) == 1;
}
inline void close_process(int process) noexcept { close(process); }

#endif

}  // namespace tutti::platform
