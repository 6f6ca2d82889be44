// SPDX-License-Identifier: Apache-2.0
// What a process says before it ends an MPI job.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

namespace tutti::mpi {

// Waits until the reader of a pipe has taken all that stands in it, at most `limit_ms`
// milliseconds; returns at once if `fd` is no pipe. MPICH's launcher drops what it has not read
// when a process calls MPI_Abort: an error's sentence would be lost.
inline void wait_until_read(int fd, int limit_ms = 200) noexcept {
  for (; limit_ms > 0; --limit_ms) {
    int unread = 0;
    if (ioctl(fd, FIONREAD, &unread) != 0 || unread == 0) return;
    usleep(1000);
  }
}

}  // namespace tutti::mpi
