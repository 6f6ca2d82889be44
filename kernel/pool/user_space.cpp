// SPDX-License-Identifier: Apache-2.0
// The pool of logical processors in user space, to compare it with the kernel's program `pool`. It
// prints the same lines, in nanoseconds.
//   tutti-pool [PROCESSORS [TASKS]]
// The processors are told by the broadcast of a condition variable of the system, and by
// tutti::event.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "kernel/pool/logical_processors.hpp"
#include "tutti/event/event.hpp"

namespace {

using tutti::kernel::logical_processors;

class system_notice {
 public:
  std::uint64_t look() {
    const std::lock_guard hold(mutex_);
    return times_;
  }
  void wait(std::uint32_t, std::uint64_t seen) {
    std::unique_lock hold(mutex_);
    told_.wait(hold, [&] { return times_ != seen; });
  }
  void tell() {
    {
      const std::lock_guard hold(mutex_);
      ++times_;
    }
    told_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  std::uint64_t times_ = 0;
};

class event_notice {
 public:
  tutti::event_place look() const { return event_.now(); }
  void wait(std::uint32_t, tutti::event_place seen) { event_.wait_past(seen); }
  void tell() { event_.broadcast(); }

 private:
  tutti::event event_;
};

std::int64_t now_ns() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

struct job {
  std::atomic<std::int64_t> began{0};
  std::atomic<std::uint64_t> runs{0};
  static void run(void* argument) noexcept {
    job& mine = *static_cast<job*>(argument);
    // relaxed: published by the count.
    mine.began.store(now_ns(), std::memory_order_relaxed);
    // release: pairs with measure().
    mine.runs.fetch_add(1, std::memory_order_release);
  }
};

template <class Notice>
bool measure(const char* name, unsigned processors, std::uint64_t tasks) {
  Notice notice;
  logical_processors<Notice> pool(notice);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < processors; ++i) threads.emplace_back([&pool, i] { pool.serve(i); });
  std::vector<std::int64_t> found;
  job one;
  for (std::uint64_t k = 1; k <= tasks; ++k) {
    // Time for the processors to become idle and sleep.
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    const std::int64_t begin = now_ns();
    pool.submit(job::run, &one);
    // acquire: pairs with job::run().
    while (one.runs.load(std::memory_order_acquire) < k) std::this_thread::yield();
    // relaxed: read after the count.
    found.push_back(one.began.load(std::memory_order_relaxed) - begin);
  }
  pool.end();
  for (std::thread& t : threads) t.join();
  std::sort(found.begin(), found.end());
  const auto at = [&](std::size_t percent) { return found[(found.size() - 1) * percent / 100]; };
  fmt::print(
      "{{\"type\":\"pool\",\"name\":\"{}\",\"processors\":{},\"tasks\":{},\"unit\":\"ns\","
      "\"median\":{},\"p95\":{},\"lost_races\":{}}}\n",
      name, processors, tasks, at(50), at(95), pool.lost_races());
  // relaxed: all threads have been joined.
  return one.runs.load(std::memory_order_relaxed) == tasks;
}

}  // namespace

int main(int argc, char** argv) {
  const long processors = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 3;
  const long tasks = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 1000;
  if (processors < 1 || processors > 64 || tasks < 1 || tasks > 1'000'000 || argc > 3) {
    fmt::print(stderr, "usage: tutti-pool [PROCESSORS (1 to 64) [TASKS (1 to 1000000)]]\n");
    return 2;
  }
  const auto n = static_cast<unsigned>(processors);
  const auto count = static_cast<std::uint64_t>(tasks);
  const bool is_right = measure<system_notice>("pthread_cond", n, count) &&
                        measure<event_notice>("tutti_event", n, count);
  return is_right ? 0 : 1;
}
