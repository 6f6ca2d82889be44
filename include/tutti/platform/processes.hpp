// SPDX-License-Identifier: Apache-2.0
// Tells whether another process of this machine has ended (Linux).
// Hosted only: there are no processes without an operating system.
#pragma once

#include "tutti/platform/config.hpp"
#include "tutti/platform/plain_files.hpp"

#if TUTTI_HOSTED
#include <poll.h>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

// Returns a descriptor of the running process with the number `pid`. Unlike the number, it never
// refers to a later process. Close it with close_process(). It is negative if the kernel has no
// such descriptors (before Linux 5.3) or the process does not exist.
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
  // poll is a cancellation point. The time is zero, in either layout of the kernel.
  const long at_once[2] = {};
  return syscall(SYS_ppoll, &look, 1ul, at_once, nullptr, 0ul) == 1;
}
inline void close_process(int process) noexcept { close_plainly(process); }

#endif

}  // namespace tutti::platform
