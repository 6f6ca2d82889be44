// SPDX-License-Identifier: Apache-2.0
// The textbook's: a barrier, and a pool, behind a mutex and condition variables.
#include <condition_variable>
#include <mutex>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/pool.hpp"
#include "bench/harness/start_gate.hpp"

namespace tutti::bench {
namespace {

class condition_variables {
 public:
  explicit condition_variables(rank_t threads) : workers_(threads - 1) {}

  void open() {
    {
      const std::lock_guard lock(mutex_);
      ++generation_;
      running_ = workers_;
    }
    opened_.notify_all();
  }
  // Each generation is seen once by each worker: the next is not opened before all are done.
  void await_open() {
    thread_local std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return generation_ != seen; });
    seen = generation_;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) all_done_.notify_one();
  }
  void close() {
    std::unique_lock lock(mutex_);
    all_done_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  const rank_t workers_;
  std::mutex mutex_;
  std::condition_variable opened_;
  std::condition_variable all_done_;
  std::uint64_t generation_ = 0;
  rank_t running_ = 0;
};

}  // namespace

std::vector<contender> peer_mutex_condvar() {
  return {
      {.name = "mutex+condvar", .summary = "the textbook's", .barrier = make_timed<blocking_gate>},
      {.name = "mutex+condvar pool",
       .summary = "the textbook's",
       .regions = make_pool<condition_variables>}};
}

}  // namespace tutti::bench
