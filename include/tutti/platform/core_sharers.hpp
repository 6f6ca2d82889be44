// SPDX-License-Identifier: Apache-2.0
// Tells for how long the participants on one CPU have run, so that a participant's own work is not
// taken for that of another process.
//
// A thread that waits beside others enters its number into the table of its CPU, and any other one
// can then read its processor time from the kernel. That takes about 0.3 us for each thread, so
// only a waiter that suspects another process does it. A container does not hide these times.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace tutti::platform {

// Returns the processor time of a thread of this process, or of another process by the number of
// its first thread, in nanoseconds, or 0 if there is no such thread.
inline std::uint64_t processor_time_of(std::uint32_t task) noexcept {
  // The kernel's numbers of clocks, which pthread_getcpuclockid and clock_getcpuclockid return: all
  // bits of the task's number are inverted, 2 is for the scheduler's clock, 4 for one thread.
  const auto process = static_cast<clockid_t>((~task << 3) | 2u);
  timespec t{};
  if (clock_gettime(process | 4, &t) != 0 && clock_gettime(process, &t) != 0) return 0;
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

// The threads that have waited on one CPU a short while ago. All values are hints. Thread-safe.
class core_sharers {
  static constexpr unsigned most = 16;

 public:
  struct times {
    unsigned count = 0;
    std::uint32_t task[most];
    std::uint64_t ns[most];
  };

  // Enters this thread. `waits` is the number of waits on this CPU so far.
  void note(std::uint32_t waits) noexcept {
    const std::uint32_t me = this_task();
    // The thread keeps its place unless two fall on the same one.
    constexpr std::uint32_t golden_ratio = 0x9e3779b1u;
    // relaxed: a hint; of two threads with one place the last one stays.
    threads_[me * golden_ratio >> 28].store(me << stamp_bits | (waits & stamp_mask), relaxed);
  }
  // Reads the processor times of all other threads that have begun one of the last waits here. A
  // thread that moved to another CPU is forgotten after some waits.
  void read(times& now, std::uint32_t waits) const noexcept {
    const std::uint32_t me = this_task();
    for (const auto& thread : threads_) {
      // relaxed: a hint.
      const std::uint32_t entry = thread.load(relaxed);
      const std::uint32_t task = entry >> stamp_bits;
      if (task == 0 || task == me || ((waits - entry) & stamp_mask) > recent_waits) continue;
      now.task[now.count] = task;
      now.ns[now.count] = processor_time_of(task);
      ++now.count;
    }
  }
  // Returns for how long these threads have run since, added up.
  static std::uint64_t ran_since(const times& before) noexcept {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < before.count; ++i) {
      const std::uint64_t now = processor_time_of(before.task[i]);
      if (now > before.ns[i]) sum += now - before.ns[i];
    }
    return sum;
  }

 private:
  static std::uint32_t this_task() noexcept {
    thread_local const auto number = static_cast<std::uint32_t>(syscall(SYS_gettid));
    return number;
  }

  // The kernel numbers no more than 2^22 threads.
  static constexpr unsigned stamp_bits = 10;
  static constexpr std::uint32_t stamp_mask = (1u << stamp_bits) - 1;
  static constexpr std::uint32_t recent_waits = 4 * most;

  // The number of the thread, and the number of waits when it last began one.
  std::atomic<std::uint32_t> threads_[most];
};

}  // namespace tutti::platform

#endif
