// SPDX-License-Identifier: Apache-2.0
// Files for waiting threads. open, read, write and close of the C library are cancellation points:
// if another thread has called pthread_cancel, they unwind the caller. No wait of tutti is a
// cancellation point, and most are noexcept, so that this would end the program.
#pragma once

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti::platform {

// The first two return what openat (for reading, with O_CLOEXEC) and read return.
inline int open_plainly(const char* path, int folder = AT_FDCWD) noexcept {
  return static_cast<int>(syscall(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC, 0));
}
inline long read_plainly(int f, void* to, long n) noexcept { return syscall(SYS_read, f, to, n); }
// Returns what pread returns at the file's start. ThreadSanitizer takes no notice: in the compiled
// library it does not see that the thread that opened the file has handed it over. Where registers
// have 32 bits the offset takes two or three arguments, all of them zero.
inline long read_start_plainly(int file, void* to, long n) noexcept {
  return file < 0 ? -1 : syscall(SYS_pread64, file, to, n, 0L, 0L, 0L);
}
inline void write_plainly(int f, const void* p, long n) noexcept { syscall(SYS_write, f, p, n); }
inline void close_plainly(int file) noexcept { syscall(SYS_close, file); }

}  // namespace tutti::platform

#endif
