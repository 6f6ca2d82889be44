// SPDX-License-Identifier: Apache-2.0
// Threads that nobody has bound, that wait for each other, and that have come to share a core while another one is idle: one
// of them moves there.
//
// The kernel leaves them together for seconds or for ever. Its balancing looks for cores where several threads want to run
// at the same moment, and of threads that wait for each other mostly one does. Where it places a thread that wakes, it looks
// for an idle core; but in a virtual machine it takes an idle core for one that the host has taken away, and leaves the
// thread with the one that woke it. (Two threads, 300 us of serial work between regions of 20 us: apart in 0 to 50 % of the
// regions after a neighbour had once pushed them together; Linux 6.18, KVM.)
//
// A move is a change of the thread's own affinity mask, and back at once: nothing stays bound, so that the kernel may move
// the thread again, and threads that it makes inherit the mask that it had.
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/minmax.hpp"

#if TUTTI_HOSTED
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace tutti::platform {

// How long each CPU has been idle so far, in hundredths of a second, as /proc/stat tells it; 0 for one that it does not name.
struct idle_times {
  static constexpr unsigned most = 1024;
  std::uint32_t of[most] = {};

  // False if the file cannot be read.
  bool read(const char* path = "/proc/stat") noexcept {
    std::FILE* const file = std::fopen(path, "re");
    if (file == nullptr) return false;
    bool any = false;
    char line[512];
    while (std::fgets(line, sizeof line, file) != nullptr && std::strncmp(line, "cpu", 3) == 0) {
      unsigned cpu = 0;
      unsigned long long idle = 0, waiting = 0;
      if (std::sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &waiting) != 3 ||
          cpu >= most)
        continue;
      of[cpu] = static_cast<std::uint32_t>(idle + waiting);
      any = true;
    }
    std::fclose(file);
    return any;
  }
};

// The CPU of `allowed` that has been idle for the largest part of `elapsed_ns`, at least three quarters; the next after
// `mine` if several are equal, so that processes do not all go to the first. -1 if there is none. Not `mine`.
inline int idle_cpu(const idle_times& before, const idle_times& after, std::uint64_t elapsed_ns,
                    const cpu_set_t& allowed, unsigned mine) noexcept {
  constexpr std::uint64_t tick_ns = 10'000'000;
  int best = -1;
  std::uint64_t most = elapsed_ns / 4 * 3;
  for (unsigned step = 1; step < idle_times::most; ++step) {
    const unsigned cpu = (mine + step) % idle_times::most;
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &allowed)) continue;
    const std::uint64_t idle_ns =
        std::uint64_t{static_cast<std::uint32_t>(after.of[cpu] - before.of[cpu])} * tick_ns;
    if (idle_ns < most || (best >= 0 && idle_ns == most)) continue;
    best = static_cast<int>(cpu);
    most = idle_ns;
  }
  return best;
}

// For a thread that belongs to a group with a CPU for each, such as a team's worker, and is nobody else's concern: it need
// not ask whether another core is idle. When it shares its core twice in a row it moves off it, and stays off it until it
// shares another one. (Given its whole mask back, the next wake-up brings it to the core of whoever wakes it.)
class core_leaver {
 public:
  explicit core_leaver(const cpu_set_t& allowed) noexcept : allowed_(allowed) {}

  // Called as free_core_seeker::share_core is, by the thread itself only.
  void share_core() noexcept {
    constexpr std::uint64_t in_a_row_ns = 1'000'000;
    const std::uint64_t now = now_ns();
    // Once may be the name of somebody who has gone.
    if (now >= not_before_ns_ && now - shared_ns_ > in_a_row_ns)
      shared_ns_ = now;
    else
      leave(now);
  }
  // At once: it is certain that the core is shared.
  void leave() noexcept { leave(now_ns()); }

 private:
  void leave(std::uint64_t now) noexcept {
    constexpr std::uint64_t calm_ns = 1'000'000'000, first_ns = 500'000, most_ns = 100'000'000;
    if (now < not_before_ns_) return;
    cpu_set_t others = allowed_;
    const int mine = sched_getcpu();
    if (mine < 0) return;
    CPU_CLR(static_cast<unsigned>(mine), &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    // Moves that follow each other help nobody: there are more threads than cores after all.
    interval_ns_ = now - not_before_ns_ > calm_ns ? first_ns : smaller(2 * interval_ns_, most_ns);
    not_before_ns_ = now + interval_ns_;
  }

  const cpu_set_t allowed_;
  std::uint64_t shared_ns_ = 0, not_before_ns_ = 0, interval_ns_ = 0;
};

// The leaver of this thread, null for the threads that ask before they move.
TUTTI_API inline constinit thread_local core_leaver* core_leaver_here = nullptr;

// One for the process.
class free_core_seeker {
 public:
  // Called by a thread that waits, each time that it finds another waiter's name on its core. Nearly always only counts.
  void share_core() noexcept {
    // A move may block for a moment, which virtual ranks may not do; their threads also wait outside of them.
    if (fibers_here != nullptr) return;
    if (core_leaver_here != nullptr) return core_leaver_here->share_core();
    constexpr std::uint8_t calls_between_looks = 4;
    thread_local std::uint8_t calls = 0;
    if (++calls % calls_between_looks != 0) return;
    const std::uint64_t now = now_ns();
    // relaxed: a hint; two that look at once are told apart below.
    if (now < next_ns_.load(relaxed)) return;
    // acquire: the samples are then mine; pairs with the clearing.
    if (is_looking_.test_and_set(acquire)) return;
    look(now);
    // release: leaves the samples to the next.
    is_looking_.clear(release);
  }

 private:
  [[gnu::cold, gnu::noinline]] void look(std::uint64_t now) noexcept {
    idle_times& fresh = samples_[which_ ^ 1];
    const bool is_read = fresh.read();
    const std::uint64_t reading_ns = now_ns() - now;
    // What the ticks of /proc/stat resolve; or, with hundreds of CPUs, so long that reading takes no time worth mentioning.
    const std::uint64_t period = larger<std::uint64_t>(50'000'000, 500 * reading_ns);
    const std::uint64_t elapsed = now - sampled_ns_;
    // An old sample tells of a time when nobody had to share.
    const bool is_comparable = is_read && sampled_ns_ != 0 && elapsed <= 3 * period;
    if (is_comparable) move(samples_[which_], fresh, elapsed);
    which_ ^= 1;
    sampled_ns_ = is_read ? now : 0;
    // relaxed: as above.
    next_ns_.store(now + period, relaxed);
  }

  static void move(const idle_times& before, const idle_times& after,
                   std::uint64_t elapsed_ns) noexcept {
    cpu_set_t allowed, one;
    const int mine = sched_getcpu();
    if (mine < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const int free = idle_cpu(before, after, elapsed_ns, allowed, static_cast<unsigned>(mine));
    if (free < 0) return;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(free), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
  }

  std::atomic<std::uint64_t> next_ns_{0};
  std::atomic_flag is_looking_ = ATOMIC_FLAG_INIT;
  // Owned by the thread that holds is_looking_.
  unsigned which_ = 0;
  std::uint64_t sampled_ns_ = 0;
  idle_times samples_[2];
};

TUTTI_API inline constinit free_core_seeker seeker_of_free_cores{};

}  // namespace tutti::platform

#endif
