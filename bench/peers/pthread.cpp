// SPDX-License-Identifier: Apache-2.0
// glibc's pthread_barrier_t: by itself, with an array of partial sums, and as the two ends of a
// pool's regions.
#include <pthread.h>

#include "bench/contenders/contender.hpp"
#include "bench/contenders/partial_sums.hpp"
#include "bench/contenders/pool.hpp"
#include "bench/trials/barrier_trial.hpp"

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

}  // namespace

std::vector<contender> peer_pthread() {
  return {{.name = "pthread_barrier",
           .summary = "glibc: sleeps at once",
           .barrier = make_timed<posix_barrier>,
           .collectives = make_partial_sums<posix_barrier>,
           .trials = [](rank_t n) { return barrier_trials<posix_barrier>(n, "pthread"); }},
          {.name = "pthread_barrier pool",
           .summary = "a pool between two of glibc's barriers",
           .regions = make_pool<two_barriers<posix_barrier>>}};
}

}  // namespace tutti::bench
