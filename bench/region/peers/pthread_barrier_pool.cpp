// SPDX-License-Identifier: Apache-2.0
// A pool between two glibc barriers: one begins a region, one ends it.
#include <pthread.h>

#include "bench/region/peers.hpp"
#include "bench/region/pool.hpp"

namespace tutti::bench {
namespace {

class two_barriers {
 public:
  explicit two_barriers(rank_t threads) {
    pthread_barrier_init(&begin_, nullptr, threads);
    pthread_barrier_init(&end_, nullptr, threads);
  }
  ~two_barriers() {
    pthread_barrier_destroy(&begin_);
    pthread_barrier_destroy(&end_);
  }
  void open() { pthread_barrier_wait(&begin_); }
  void await_open() { pthread_barrier_wait(&begin_); }
  void done() { pthread_barrier_wait(&end_); }
  void close() { pthread_barrier_wait(&end_); }

 private:
  pthread_barrier_t begin_;
  pthread_barrier_t end_;
};

}  // namespace

std::unique_ptr<region_crew> make_pthread_barrier_pool(const crew_size& size) {
  return std::make_unique<pool_crew<two_barriers>>(size.threads);
}

}  // namespace tutti::bench
