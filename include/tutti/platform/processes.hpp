// SPDX-License-Identifier: Apache-2.0
// What the processes of one machine need of the system: to know who of them has ended. Linux.
// Hosted only: there are no processes without an operating system.
#pragma once

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

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
