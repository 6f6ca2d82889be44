// SPDX-License-Identifier: Apache-2.0
// Moves a thread to an idle core if it shares its core with another thread for which it waits, and
// if the program has bound neither thread.
//
// The kernel leaves such threads together for seconds or for ever. Its load balancing looks for
// cores on which several threads are ready at the same moment; of threads that wait for each other
// mostly one is ready. When it places a thread that wakes, it looks for an idle core, but in a
// virtual machine it takes an idle core for one that the host has taken away, and leaves the thread
// with the one that woke it. (Two threads with 300 us of serial work between regions of 20 us ran
// on different cores in 0 to 50 % of the regions after a neighbour had once pushed them together;
// Linux 6.18, KVM.)
//
// To move, a thread changes its own affinity mask and restores it at once. So it does not stay
// bound: the kernel may move it again, and threads that it creates inherit its previous mask.
#pragma once

#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/found_once.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/plain_files.hpp"

#if TUTTI_HOSTED
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace tutti::platform {

// How long each CPU has been idle so far, in hundredths of a second, from /proc/stat. It is 0 for a
// CPU that the file does not name.
struct idle_times {
  static constexpr unsigned most = 1024;
  std::uint32_t of[most] = {};

  // Returns false if it cannot read the file. A waiting thread calls it at moments that the program
  // does not know, perhaps while another thread forks. So it allocates no memory and uses no
  // streams: the child would inherit a lock that nobody releases.
  bool read(const char* path = "/proc/stat") noexcept {
    const int file = open_plainly(path);
    if (file < 0) return false;
    bool any = false;
    // The sanitizers do not see what a plain system call writes.
    char text[1024] = {};
    std::size_t size = 0;
    for (bool goes_on = true; goes_on;) {
      const long more = read_plainly(file, text + size, static_cast<long>(sizeof text - size));
      if (more <= 0) break;
      size += static_cast<std::size_t>(more);
      const char* at = text;
      const char* const end = text + size;
      while (const void* const found = std::memchr(at, '\n', static_cast<std::size_t>(end - at))) {
        const char* const end_of_line = static_cast<const char*>(found);
        goes_on = end_of_line - at >= 3 && std::memcmp(at, "cpu", 3) == 0;
        if (!goes_on) break;
        if (note(at + 3, end_of_line)) any = true;
        at = end_of_line + 1;
      }
      // A line that does not fit is none of a CPU.
      if (at == text && size == sizeof text) break;
      size = static_cast<std::size_t>(end - at);
      std::memmove(text, at, size);
    }
    close_plainly(file);
    return any;
  }

 private:
  // Notes the CPU of a line, which begins after "cpu": its number, and its times of user, nice,
  // system, idle and waiting for input. Returns false if the line is another one.
  bool note(const char* at, const char* end) noexcept {
    std::uint64_t numbers[6];
    for (std::uint64_t& number : numbers) {
      // The line with the sums of all CPUs has a blank in place of the number.
      if (&number != numbers)
        while (at < end && *at == ' ') ++at;
      if (at == end || *at < '0' || *at > '9') return false;
      number = 0;
      for (; at < end && *at >= '0' && *at <= '9'; ++at)
        number = 10 * number + static_cast<std::uint64_t>(*at - '0');
    }
    if (numbers[0] >= most) return false;
    of[numbers[0]] = static_cast<std::uint32_t>(numbers[4] + numbers[5]);
    return true;
  }
};

// Returns the CPU of `allowed`, other than `mine`, that has been idle for the largest part of
// `elapsed_ns` and for at least three quarters of it, or -1 if there is none. Of equal CPUs it
// chooses the next one after `mine`, so that not all processes choose the first.
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

// Returns how many tasks of this machine run or are ready to run, including the caller, or 0 if the
// system does not tell. It takes about a microsecond. In a container it counts the tasks of the
// host.
inline std::uint32_t runnable_tasks() noexcept {
  static constinit found_once<int> opened{-1};
  const int file = opened.get([] { return open_plainly("/proc/loadavg"); }, close_plainly);
  char text[64]{};
  if (read_start_plainly(file, text, sizeof text - 1) <= 0) return 0;
  // "0.24 0.13 0.05 2/345 6789"
  const char* at = text;
  for (int blanks = 0; blanks < 3 && *at != '\0'; ++at) blanks += *at == ' ' ? 1 : 0;
  std::uint32_t count = 0;
  for (; *at >= '0' && *at <= '9'; ++at) count = 10 * count + static_cast<std::uint32_t>(*at - '0');
  return count;
}

// Reads one number or letter of the line of /proc/self/task/TASK/stat: `field` 3 is the state, 39
// the CPU. The name, field 2, is in brackets and may hold blanks. Returns null if the line ends
// before.
inline const char* field_of_task(const char* line, unsigned field) noexcept {
  const char* at = std::strrchr(line, ')');
  for (unsigned i = 2; at != nullptr && i < field; ++i) {
    at = std::strchr(at, ' ');
    if (at != nullptr) ++at;
  }
  return at;
}

// Adds to `cpus` the CPUs on which other threads of this process run or are ready to run. Returns
// false if the system does not tell, or if the process has so many threads that asking takes too
// long. It takes some 3 us for each thread, and allocates no memory: see idle_times::read.
inline bool add_cpus_of_running_threads(cpu_set_t& cpus) noexcept {
  constexpr unsigned most_threads = 64;
  const int folder = open_plainly("/proc/self/task");
  if (folder < 0) return false;
  const auto mine = static_cast<std::uint32_t>(syscall(SYS_gettid));
  alignas(8) char entries[4096] = {};
  bool tells = false;
  unsigned threads = 0;
  for (;;) {
    const auto size = syscall(SYS_getdents64, folder, entries, sizeof entries);
    if (size <= 0 || threads > most_threads) break;
    for (long at = 0; at < size;) {
      // An entry: 8 bytes each of inode and offset, 2 of its length, 1 of its kind, then the name.
      unsigned short length = 0;
      std::memcpy(&length, entries + at + 16, sizeof length);
      const char* const name = entries + at + 19;
      at += length;
      if (name[0] < '0' || name[0] > '9') continue;
      std::uint32_t task = 0;
      for (const char* digit = name; *digit != '\0'; ++digit)
        task = 10 * task + static_cast<std::uint32_t>(*digit - '0');
      if (task == mine || ++threads > most_threads) continue;
      char path[32] = {};
      std::size_t used = std::strlen(name);
      if (used > 20) continue;
      std::memcpy(path, name, used);
      std::memcpy(path + used, "/stat", 6);
      const int file = open_plainly(path, folder);
      if (file < 0) continue;
      char line[512] = {};
      const long got = read_plainly(file, line, sizeof line - 1);
      close_plainly(file);
      if (got <= 0) continue;
      const char* const state = field_of_task(line, 3);
      const char* const cpu = field_of_task(line, 39);
      if (state == nullptr || cpu == nullptr) continue;
      tells = true;
      if (*state != 'R') continue;
      unsigned number = 0;
      for (const char* digit = cpu; *digit >= '0' && *digit <= '9'; ++digit)
        number = 10 * number + static_cast<unsigned>(*digit - '0');
      if (number < CPU_SETSIZE) CPU_SET(number, &cpus);
    }
  }
  close_plainly(folder);
  return tells && threads <= most_threads;
}

// Moves a thread that belongs to a group with a CPU for each thread, such as a team's worker. If
// the thread shares its core twice in a row, it goes to a CPU on which no thread of the process
// runs, and stays off the core that it left until it shares another one. (If it restored its whole
// mask, the next wake-up would bring it back to the core of the thread that wakes it. If it went to
// any other CPU, it would mostly meet the next thread of a large group there.)
//
// A leaver that is told the number of the machine's CPUs also takes account of other processes. On
// a CPU that a busy process uses, a thread waits for slices of milliseconds, and the group waits
// for the thread; beside a thread of its group it waits for that thread's part of the work. So the
// thread does not leave the core of its group while more threads are ready to run than there are
// CPUs, and it leaves a core on which it is kept from running. Groups whose threads wait for each
// other every microsecond are an exception: their switches on one core would take longer than they
// lose to the process. `count_waits` tells how often they have done so.
class core_leaver {
 public:
  explicit core_leaver(const cpu_set_t& allowed, unsigned machine_cpus = 0,
                       std::uint32_t (*count_waits)() noexcept = nullptr,
                       std::uint32_t (*count_runnable)() noexcept = runnable_tasks) noexcept
      : allowed_(allowed),
        machine_cpus_(machine_cpus),
        count_waits_(count_waits),
        count_runnable_(count_runnable) {
    if (sched_getaffinity(0, sizeof last_, &last_) != 0) last_ = allowed_;
  }

  // Does for this thread what free_core_seeker::share_core does. Only the thread itself may call
  // it.
  void share_core() noexcept {
    constexpr std::uint64_t in_a_row_ns = 1'000'000;
    const std::uint64_t now = now_ns();
    // One time may be due to a thread that has left the core.
    if (now >= not_before_ns_ && now - shared_ns_ > in_a_row_ns)
      shared_ns_ = now;
    else
      leave(now);
  }
  // Leaves the core at once, because it is certain that the core is shared.
  void leave() noexcept { leave(now_ns()); }
  // A thread of another process has used this core from `began_ns` to `now_ns`, for milliseconds,
  // while this thread was ready to run. Afterwards the kernel may put the thread on any core again.
  void was_kept_from_running(std::uint64_t began_ns, std::uint64_t now_ns) noexcept {
    constexpr std::uint64_t apart_ns = 1'000;
    if (machine_cpus_ == 0 || waits_within(apart_ns, began_ns, now_ns)) return;
    // Beside a thread of its group it waits for less.
    if (go_elsewhere(/*is_free=*/true) || go_elsewhere(/*is_free=*/false)) set(allowed_);
  }

 private:
  void leave(std::uint64_t now) noexcept {
    constexpr std::uint64_t calm_ns = 1'000'000'000, first_ns = 500'000, most_ns = 100'000'000;
    if (now < not_before_ns_) return;
    constexpr std::uint64_t together_ns = 2'500;
    // The calling thread is one of those that are ready to run.
    if (machine_cpus_ != 0 && count_runnable_() > machine_cpus_ &&
        !waits_within(together_ns, now, now)) {
      not_before_ns_ = now + first_ns;
      return;
    }
    // It is dear to find no free CPU, too.
    go_elsewhere(/*is_free=*/true);
    // If moves follow each other closely, there are more threads than cores and moving does not
    // help.
    interval_ns_ = now - not_before_ns_ > calm_ns ? first_ns : smaller(2 * interval_ns_, most_ns);
    not_before_ns_ = now + interval_ns_;
  }
  // Whether the group's threads have waited for each other every `period_ns` since the last call,
  // until `now_ns`. The next call counts from `next_ns`.
  bool waits_within(std::uint64_t period_ns, std::uint64_t now_ns, std::uint64_t next_ns) noexcept {
    if (count_waits_ == nullptr) return false;
    const std::uint32_t waits = count_waits_();
    const std::uint64_t in_ns = now_ns - counted_ns_;
    const bool result = counted_ns_ != 0 && in_ns < period_ns * (waits - counted_waits_);
    counted_waits_ = waits;
    counted_ns_ = next_ns;
    return result;
  }
  // Goes to another CPU, where no thread of the process runs if `is_free`. Returns false if there
  // is none. Afterwards the thread may run on all CPUs of the group but the one that it left. A
  // thread that the program has bound meanwhile stays where it is.
  bool go_elsewhere(bool is_free) noexcept {
    cpu_set_t others = allowed_, now;
    const int mine = sched_getcpu();
    if (mine < 0 || sched_getaffinity(0, sizeof now, &now) != 0) return false;
    if (!CPU_EQUAL(&now, &allowed_) && !CPU_EQUAL(&now, &last_)) return false;
    CPU_CLR(static_cast<unsigned>(mine), &others);
    cpu_set_t chosen = others;
    if (is_free) {
      cpu_set_t taken;
      CPU_ZERO(&taken);
      // If the system does not tell, any other CPU is as good.
      if (!add_cpus_of_running_threads(taken)) CPU_ZERO(&taken);
      // chosen & ~taken
      CPU_AND(&taken, &taken, &chosen);
      CPU_XOR(&chosen, &chosen, &taken);
    }
    if (CPU_COUNT(&chosen) == 0 || !set(chosen)) return false;
    set(others);
    return true;
  }
  bool set(const cpu_set_t& mask) noexcept {
    if (sched_setaffinity(0, sizeof mask, &mask) != 0) return false;
    last_ = mask;
    return true;
  }

  const cpu_set_t allowed_;
  // The mask of the thread as the leaver knows it.
  cpu_set_t last_;
  const unsigned machine_cpus_;
  std::uint32_t (*const count_waits_)() noexcept;
  std::uint32_t (*const count_runnable_)() noexcept;
  std::uint64_t counted_ns_ = 0;
  std::uint32_t counted_waits_ = 0;
  std::uint64_t shared_ns_ = 0, not_before_ns_ = 0, interval_ns_ = 0;
};

// The leaver of this thread. It is null for threads that check for an idle core before they move.
TUTTI_API inline constinit thread_local core_leaver* core_leaver_here = nullptr;

// Moves threads to idle cores. The process has one such object. Thread-safe.
class free_core_seeker {
 public:
  // A waiting thread calls it each time that it finds that another waiter has used its core. Nearly
  // all calls only count.
  void share_core() noexcept {
    // A move may block briefly, which virtual ranks must not do. Their threads also wait outside of
    // fibers and can move there.
    if (fibers_here != nullptr) return;
    if (core_leaver_here != nullptr) return core_leaver_here->share_core();
    constexpr std::uint8_t calls_between_looks = 4;
    thread_local std::uint8_t calls = 0;
    if (++calls % calls_between_looks != 0) return;
    const std::uint64_t now = now_ns();
    // relaxed: a hint; the number below admits one thread.
    if (now < next_ns_.load(relaxed)) return;
    // A child of fork() inherits the number of its parent. The thread that looked is not there.
    const pid_t process = getpid();
    // relaxed: the exchange acquires.
    pid_t looking = looking_.load(relaxed);
    if (looking == process) return;
    // acquire: makes the samples of the previous thread visible; pairs with the store. relaxed:
    // another thread looks.
    if (!looking_.compare_exchange_strong(looking, process, acquire, relaxed)) return;
    look(now);
    // release: publishes the samples to the next thread; pairs with the exchange.
    looking_.store(0, release);
  }

 private:
  [[gnu::cold, gnu::noinline]] void look(std::uint64_t now) noexcept {
    idle_times& fresh = samples_[which_ ^ 1];
    const bool is_read = fresh.read();
    const std::uint64_t reading_ns = now_ns() - now;
    // The ticks of /proc/stat need at least 50 ms. With hundreds of CPUs the period is so long that
    // reading takes a negligible part of it.
    const std::uint64_t period = larger<std::uint64_t>(50'000'000, 500 * reading_ns);
    const std::uint64_t elapsed = now - sampled_ns_;
    // An old sample describes a time when no threads shared a core.
    const bool is_comparable = is_read && sampled_ns_ != 0 && elapsed <= 3 * period;
    if (is_comparable) move(samples_[which_], fresh, elapsed);
    which_ ^= 1;
    sampled_ns_ = is_read ? now : 0;
    // relaxed: a hint.
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
  // The process of the thread that looks, or 0 if none does.
  std::atomic<pid_t> looking_{0};
  // These belong to the thread that looks.
  unsigned which_ = 0;
  std::uint64_t sampled_ns_ = 0;
  idle_times samples_[2];
};

TUTTI_API inline constinit free_core_seeker seeker_of_free_cores{};

}  // namespace tutti::platform

#endif
