// SPDX-License-Identifier: Apache-2.0
// The processor time of all threads of this process.
#pragma once

#include <sys/resource.h>

#include <chrono>

namespace tutti::test {

inline std::chrono::microseconds cpu_time() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return std::chrono::seconds(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         std::chrono::microseconds(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

}  // namespace tutti::test
