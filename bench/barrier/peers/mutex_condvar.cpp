// SPDX-License-Identifier: Apache-2.0
// The barrier that everyone writes: a mutex, a condition variable, a count and a generation.
#include <condition_variable>
#include <mutex>

#include "bench/barrier/peers.hpp"

namespace tutti::bench {
namespace {

class textbook_barrier {
 public:
  explicit textbook_barrier(rank_t n) : expected_(n) {}

  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t generation = generation_;
    if (++arrived_ == expected_) {
      arrived_ = 0;
      ++generation_;
      all_here_.notify_all();
      return;
    }
    all_here_.wait(lock, [&] { return generation_ != generation; });
  }

 private:
  const rank_t expected_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  rank_t arrived_ = 0;
  std::uint64_t generation_ = 0;
};

}  // namespace

std::unique_ptr<subject> make_mutex_condvar(rank_t n) {
  return std::make_unique<plain_subject<textbook_barrier>>(n);
}

}  // namespace tutti::bench
