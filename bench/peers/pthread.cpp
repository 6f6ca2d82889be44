// SPDX-License-Identifier: Apache-2.0
// glibc's pthread_barrier_t: by itself, with an array of partial sums, and as the two ends of a
// pool's regions; and its condition variable.
#include <pthread.h>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/partial_sums.hpp"
#include "bench/contenders/pool.hpp"
#include "bench/trials/barrier_trial.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::bench {
namespace {

class posix_barrier {
 public:
  explicit posix_barrier(rank_t n) { pthread_barrier_init(&barrier_, nullptr, n); }
  ~posix_barrier() { pthread_barrier_destroy(&barrier_); }
  posix_barrier(const posix_barrier&) = delete;
  posix_barrier& operator=(const posix_barrier&) = delete;
  void arrive_and_wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

// A mutex, a condition variable and a count.
class by_condition final : public counting_notifier<std::uint64_t> {
 public:
  explicit by_condition(rank_t receivers) : counting_notifier(receivers) {}
  ~by_condition() override {
    pthread_cond_destroy(&changed_);
    pthread_mutex_destroy(&mutex_);
  }
  void notify() override {
    pthread_mutex_lock(&mutex_);
    ++count_;
    pthread_mutex_unlock(&mutex_);
    if (has_one_receiver())
      pthread_cond_signal(&changed_);
    else
      pthread_cond_broadcast(&changed_);
  }
  void wait(rank_t receiver) override {
    pthread_mutex_lock(&mutex_);
    while (count_ == seen_by(receiver)) pthread_cond_wait(&changed_, &mutex_);
    seen_by(receiver) = count_;
    pthread_mutex_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  std::uint64_t count_ = 0;
};

}  // namespace

std::vector<contender> peer_pthread() {
  return {{.name = "pthread_barrier",
           .summary = "glibc: sleeps at once",
           .barrier = make_timed<posix_barrier>,
           .collectives = make_partial_sums<posix_barrier>,
           .trials = [](rank_t n) { return barrier_trials<posix_barrier>(n, "pthread"); }},
          {.name = "pthread_barrier pool",
           .summary = "a pool between two of glibc's barriers",
           .regions = make_pool<two_barriers<posix_barrier>>},
          {.family = "pthread",
           .name = "pthread_cond",
           .summary = "glibc: a mutex and a condition variable",
           .events = make_notifier<by_condition>}};
}

}  // namespace tutti::bench
