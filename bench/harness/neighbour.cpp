// SPDX-License-Identifier: Apache-2.0
// Forked children that spin on request.
#include "bench/harness/neighbour.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "bench/harness/ticks.hpp"
#include "cli/end_with_parent.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::bench {

struct neighbours::shared {
  alignas(cache_line) std::atomic<std::uint32_t> busy{0};
  alignas(cache_line) std::atomic<std::uint64_t> work{0};
  std::atomic<std::uint64_t> stopped{0};  // when it saw that it should, in ticks
};

namespace {

constexpr double lifetime_s = 1800;

// Between processes, unlike the futexes of the library.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout = nullptr) {
  syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

// What a child must know, computed before the fork: little is safe after it in a process with
// threads.
struct orders {
  int cpu;
  pid_t parent;
  bool light;
  bool own_session;
  const char* outside;  // null: stay in the parent's cgroup
  std::uint64_t longest_burst;
  unsigned lifetime_s;
  double ticks_per_us;
  std::uint64_t seed;
};

// splitmix64: a generator that is safe after a fork and the same everywhere.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t random_between(std::uint64_t& state, std::uint64_t least, std::uint64_t most) {
  return least + next_random(state) % (most - least + 1);
}

template <class Shared>
void spin_until(Shared& page, std::uint64_t end) {
  // relaxed: the wish itself is all that is published, and the work is a count.
  while (page.busy.load(relaxed) != 0 && ticks() < end) {
    for (int i = 0; i < 1000; ++i) asm volatile("" ::: "memory");
    page.work.store(page.work.load(relaxed) + 1, relaxed);
  }
}

template <class Shared>
void sleep_while_busy(Shared& page, std::uint64_t us) {
  const timespec t{static_cast<time_t>(us / 1000000), static_cast<long>(us % 1000000) * 1000};
  futex(page.busy, FUTEX_WAIT, 1, &t);  // stop() wakes it
}

template <class Shared>
void be_light(Shared& page, const orders& o, std::uint64_t& random) {
  // Not all begin together.
  sleep_while_busy(page, random_between(random, 0, most_slice_us * sleeps_a_slice));
  // relaxed: the wish itself is all that is published.
  while (page.busy.load(relaxed) != 0) {
    const std::uint64_t slice = random_between(random, least_slice_us, most_slice_us);
    spin_until(page,
               ticks() + static_cast<std::uint64_t>(static_cast<double>(slice) * o.ticks_per_us));
    sleep_while_busy(page, random_between(random, least_slice_us, most_slice_us) * sleeps_a_slice);
  }
}

// Runs in a fork of a process with threads: only what is safe there.
template <class Shared>
[[noreturn]] void be_a_neighbour(Shared& page, const orders& o) {
  cli::end_with_parent(o.parent);
  alarm(o.lifetime_s);
  if (o.outside != nullptr) {
    const int file = open(o.outside, O_WRONLY);
    if (file < 0 || write(file, "0", 1) != 1) _exit(1);
  }
  close_range(0, ~0u, 0);  // an inherited pipe would hide its end from those who wait for it
  if (o.own_session) setsid();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(o.cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
  std::uint64_t random = o.seed;
  while (true) {
    // relaxed: the wish itself is all that is published.
    while (page.busy.load(relaxed) == 0) futex(page.busy, FUTEX_WAIT, 0);
    if (o.light) {
      be_light(page, o, random);
    } else {
      spin_until(page, ticks() + o.longest_burst);
    }
    // relaxed: the time is all that is published.
    page.stopped.store(ticks(), relaxed);
    std::uint32_t one = 1;
    // relaxed: takes back a wish that nobody has taken back yet.
    page.busy.compare_exchange_strong(one, 0, relaxed, relaxed);
  }
}

bool is_alive(pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == 0; }

}  // namespace

neighbours::neighbours() = default;

neighbours::~neighbours() { dismiss(); }

void neighbours::dismiss() {
  for (auto& c : children_) {
    kill(c.pid, SIGKILL);
    waitpid(c.pid, nullptr, 0);
    munmap(c.page, sizeof(shared));
  }
  children_.clear();
}

neighbours::child& neighbours::child_for(const neighbour_plan& plan, int cpu, unsigned index) {
  for (auto it = children_.begin(); it != children_.end(); ++it) {
    if (it->cpu != cpu || it->index != index || it->light != plan.light ||
        it->own_session != plan.own_session || it->longest_burst_ns != plan.longest_burst_ns) {
      continue;
    }
    if (is_alive(it->pid)) return *it;
    munmap(it->page, sizeof(shared));
    children_.erase(it);
    break;
  }
  void* memory =
      mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "no memory for a neighbour process");
  }
  auto* page = new (memory) shared;
  const orders o{
      .cpu = cpu,
      .parent = getpid(),
      .light = plan.light,
      .own_session = plan.own_session,
      .outside = plan.outside.empty() ? nullptr : plan.outside.c_str(),
      .longest_burst = from_ns(plan.longest_burst_ns),
      .lifetime_s = static_cast<unsigned>(std::max(lifetime_s, 2e-9 * plan.longest_burst_ns)),
      .ticks_per_us = 1000 / ns_per_tick(),
      .seed = (static_cast<std::uint64_t>(cpu) << 32) + index};
  const pid_t pid = fork();
  if (pid < 0) {
    munmap(memory, sizeof(shared));
    throw std::system_error(errno, std::generic_category(),
                            "a neighbour process cannot be started");
  }
  if (pid == 0) be_a_neighbour(*page, o);
  children_.push_back({.cpu = cpu,
                       .index = index,
                       .light = plan.light,
                       .own_session = plan.own_session,
                       .longest_burst_ns = plan.longest_burst_ns,
                       .pid = pid,
                       .page = page,
                       .chosen = false,
                       .work_at_start = 0,
                       .started = false,
                       .ended_early = false});
  return children_.back();
}

void neighbours::select(const neighbour_plan& plan) {
  for (auto& c : children_) c.chosen = false;
  for (const int cpu : plan.cpus) {
    for (unsigned i = 0; i < plan.each; ++i) child_for(plan, cpu, i).chosen = true;
  }
}

void neighbours::start() {
  for (auto& c : children_) {
    if (!c.chosen) continue;
    c.started = true;
    c.ended_early = false;
    // relaxed: a count, a time, and the wish; each says all by itself.
    c.work_at_start = c.page->work.load(relaxed);
    c.page->stopped.store(0, relaxed);
    c.page->busy.store(1, relaxed);
    futex(c.page->busy, FUTEX_WAKE, 1);
  }
}

void neighbours::stop() {
  for (auto& c : children_) {
    // Only those between two slices sleep; the call is no part of what is timed.
    // relaxed: the wish itself is all that is published.
    const bool was_busy = c.page->busy.exchange(0, relaxed) != 0;
    if (was_busy && c.light) futex(c.page->busy, FUTEX_WAKE, 1);
    if (c.started) c.ended_early = !was_busy;
    c.started = false;
  }
}

std::uint64_t neighbours::stopped_at() const {
  std::uint64_t latest = 0;
  for (const auto& c : children_) {
    if (!c.chosen) continue;
    // relaxed: the time is all that is read.
    const std::uint64_t stopped = c.page->stopped.load(relaxed);
    if (stopped == 0) return 0;
    latest = std::max(latest, stopped);
  }
  return latest;
}

bool neighbours::ran() const {
  bool any = false, each = true, light = false, chosen = false;
  for (const auto& c : children_) {
    if (!c.chosen) continue;
    chosen = true;
    light = c.light;
    // relaxed: a count that changes while the child works.
    const bool worked = c.page->work.load(relaxed) != c.work_at_start && !c.ended_early;
    any = any || worked;
    each = each && worked;
  }
  if (!chosen) return true;
  return light ? any : each;
}

std::vector<pid_t> neighbours::processes() const {
  std::vector<pid_t> pids;
  for (const auto& c : children_) pids.push_back(c.pid);
  return pids;
}

}  // namespace tutti::bench
