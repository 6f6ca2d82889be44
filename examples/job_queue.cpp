// SPDX-License-Identifier: Apache-2.0
// A program's own job queue, with a mutex and a condition variable (before), and with tutti::event
// (after), which changes five lines: the include, the member, the notification, the wait, and the
// lock, which comes behind the wait because a signal stands for one job. The program prints how
// long a job waits for its worker with each.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tutti/event/event.hpp"  // 1

using job = std::function<void()>;
using wall_clock = std::chrono::steady_clock;

namespace before {
class job_queue {
 public:
  void submit(job work) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(work));
    }
    ready_.notify_one();
  }
  job take() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !jobs_.empty(); });
    job work = std::move(jobs_.front());
    jobs_.pop_front();
    return work;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<job> jobs_;
};
}  // namespace before

namespace after {
class job_queue {
 public:
  void submit(job work) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(work));
    }
    ready_.signal();  // 2
  }
  job take() {
    ready_.wait();                        // 3
    const std::unique_lock lock(mutex_);  // 4
    job work = std::move(jobs_.front());
    jobs_.pop_front();
    return work;
  }

 private:
  std::mutex mutex_;
  tutti::event ready_;  // 5
  std::deque<job> jobs_;
};
}  // namespace after

// Submits jobs, 20 us after the end of the one before, and returns the median time in microseconds
// from the submission to the begin of a job.
template <class Queue>
double hand_over_us() {
  constexpr int jobs = 4000;
  Queue queue;
  std::jthread worker([&] {
    while (const job work = queue.take()) work();
  });
  std::vector<double> us;
  for (int i = 0; i < jobs; ++i) {
    const auto pause_end = wall_clock::now() + std::chrono::microseconds(20);
    while (wall_clock::now() < pause_end) {
    }
    std::atomic<bool> is_done{false};
    const auto submitted = wall_clock::now();
    queue.submit([&] {
      us.push_back(
          std::chrono::duration<double, std::micro>(wall_clock::now() - submitted).count());
      // release: publishes the time; pairs with the load.
      is_done.store(true, std::memory_order_release);
    });
    // acquire: sees the time; pairs with the store.
    while (!is_done.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  queue.submit(nullptr);
  std::nth_element(us.begin(), us.begin() + jobs / 2, us.end());
  return us[jobs / 2];
}

int main() {
  const double with_condition = hand_over_us<before::job_queue>();
  const double with_event = hand_over_us<after::job_queue>();
  std::printf("a job waits %.2f µs with a condition variable, %.2f µs with tutti::event\n",
              with_condition, with_event);
  return 0;
}
