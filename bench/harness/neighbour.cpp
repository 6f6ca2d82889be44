// SPDX-License-Identifier: Apache-2.0
// Forked children that spin on request.
#include "harness/neighbour.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "harness/ticks.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::bench {

struct neighbours::shared {
  alignas(cache_line) std::atomic<std::uint32_t> busy{0};
  alignas(cache_line) std::atomic<std::uint64_t> work{0};
};

namespace {

constexpr unsigned lifetime_s = 1800;
constexpr double longest_burst_ns = 60e9;

// Between processes, unlike the futexes of the library.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

// Runs in a fork of a process with threads: only what is safe there.
template <class Shared>
[[noreturn]] void be_busy(Shared& page, int cpu, pid_t parent, std::uint64_t longest_burst) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // the parent ended before the line above
  alarm(lifetime_s);
  close_range(0, ~0u, 0);  // an inherited pipe would hide its end from those who wait for it
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
  while (true) {
    // relaxed throughout: nothing is published but the wish itself.
    while (page.busy.load(relaxed) == 0) futex(page.busy, FUTEX_WAIT, 0);
    const std::uint64_t end = ticks() + longest_burst;
    while (page.busy.load(relaxed) != 0 && ticks() < end) {
      for (int i = 0; i < 1000; ++i) asm volatile("" ::: "memory");
      page.work.store(page.work.load(relaxed) + 1, relaxed);
    }
    std::uint32_t one = 1;
    page.busy.compare_exchange_strong(one, 0, relaxed);
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

neighbours::child& neighbours::child_on(int cpu) {
  for (auto it = children_.begin(); it != children_.end(); ++it) {
    if (it->cpu != cpu) continue;
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
  const pid_t parent = getpid();
  const std::uint64_t longest_burst = from_ns(longest_burst_ns);
  const pid_t pid = fork();
  if (pid < 0) {
    throw std::system_error(errno, std::generic_category(),
                            "a neighbour process cannot be started");
  }
  if (pid == 0) be_busy(*page, cpu, parent, longest_burst);
  children_.push_back({cpu, pid, page, false, 0});
  return children_.back();
}

void neighbours::select(const std::vector<int>& cpus) {
  for (auto& c : children_) c.chosen = false;
  for (const int cpu : cpus) child_on(cpu).chosen = true;
}

void neighbours::start() {
  for (auto& c : children_) {
    if (!c.chosen) continue;
    c.work_at_start = c.page->work.load(relaxed);
    c.page->busy.store(1, relaxed);
    futex(c.page->busy, FUTEX_WAKE, 1);
  }
}

void neighbours::stop() {
  for (auto& c : children_) c.page->busy.store(0, relaxed);
}

bool neighbours::all_ran() const {
  for (const auto& c : children_) {
    if (c.chosen && c.page->work.load(relaxed) == c.work_at_start) return false;
  }
  return true;
}

}  // namespace tutti::bench
