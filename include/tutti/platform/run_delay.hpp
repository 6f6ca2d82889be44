// SPDX-License-Identifier: Apache-2.0
// How long a thread has been ready to run while others had its CPU, as Linux's scheduler tells
// (/proc/thread-self/schedstat). It tells whether a thread has its CPU alone, before a process of a
// stranger has taken it away for a time slice.
// Hosted only: without an operating system nobody takes a CPU away.
#pragma once

#include "tutti/platform/config.hpp"
#include "tutti/platform/plain_files.hpp"

#if TUTTI_HOSTED
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

class run_delay {
 public:
  // Returns the calling thread's, in nanoseconds; nothing if the kernel does not tell.
  static std::optional<std::uint64_t> now_ns() noexcept {
    static thread_local run_delay mine;
    // A child that a fork has made inherits the file of its parent's thread.
    if (mine.process_ != ::getpid()) mine.open();
    char text[80]{};
    if (read_start_plainly(mine.file_, text, sizeof text - 1) <= 0) return {};
    unsigned long long ran = 0, waited = 0;
    if (std::sscanf(text, "%llu %llu", &ran, &waited) != 2) return {};
    return waited;
  }
  run_delay(const run_delay&) = delete;
  run_delay& operator=(const run_delay&) = delete;

 private:
  run_delay() noexcept = default;
  ~run_delay() { close(); }
  void open() noexcept {
    close();
    process_ = ::getpid();
    file_ = open_plainly("/proc/thread-self/schedstat");
    if (file_ >= 0 && ::fstat(file_, &is_) != 0) is_ = {};
  }
  void close() noexcept {
    // A program may have closed all files, as children of a fork do, and may use the number for a
    // file of its own.
    struct stat now {};
    if (file_ >= 0 && ::fstat(file_, &now) == 0 && now.st_dev == is_.st_dev &&
        now.st_ino == is_.st_ino)
      close_plainly(file_);
    file_ = -1;
  }

  int file_ = -1;
  struct stat is_ {};
  pid_t process_ = 0;
};

#endif  // TUTTI_HOSTED

}  // namespace tutti::platform
