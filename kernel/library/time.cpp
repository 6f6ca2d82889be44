// SPDX-License-Identifier: Apache-2.0
// Time, which begins when the processor's counter is 0, and the number of processors.
#include <sched.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/core/core.hpp"
#include "kernel/core/thread.hpp"
#include "kernel/platform/policy.hpp"

using namespace tutti::kernel;

extern "C" {

int clock_gettime(clockid_t, timespec* to) noexcept {
  const u64 ns = now_ns();
  *to = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  return 0;
}

long sysconf(int name) noexcept {
  switch (name) {
    case _SC_PAGESIZE: return 4096;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN: return cores();
    default: errno = EINVAL; return -1;
  }
}

}  // extern "C"
