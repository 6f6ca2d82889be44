// SPDX-License-Identifier: Apache-2.0
// How long this thread has been ready to run while another one had its CPU, as the kernel's
// scheduler tells (/proc/thread-self/schedstat).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace tutti::network {

class run_delay {
 public:
  // Of the calling thread. Zero if the kernel does not tell.
  static std::chrono::nanoseconds now() noexcept {
    static thread_local const run_delay mine;
    char text[80];
    const ssize_t got = ::pread(mine.file_, text, sizeof text - 1, 0);
    if (got <= 0) return {};
    text[got] = '\0';
    unsigned long long ran = 0, waited = 0;
    return std::chrono::nanoseconds(
        std::sscanf(text, "%llu %llu", &ran, &waited) == 2 ? static_cast<long long>(waited) : 0);
  }
  run_delay(const run_delay&) = delete;
  run_delay& operator=(const run_delay&) = delete;

 private:
  run_delay() noexcept : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~run_delay() {
    if (file_ >= 0) ::close(file_);
  }

  int file_;
};

}  // namespace tutti::network
