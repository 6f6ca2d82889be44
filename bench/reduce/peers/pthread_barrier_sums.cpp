// SPDX-License-Identifier: Apache-2.0
// An array of partial sums around glibc's pthread_barrier_t.
#include <pthread.h>

#include "bench/reduce/partial_sums.hpp"
#include "bench/reduce/peers.hpp"

namespace tutti::bench {
namespace {

class glibc_barrier {
 public:
  explicit glibc_barrier(rank_t threads) { pthread_barrier_init(&barrier_, nullptr, threads); }
  ~glibc_barrier() { pthread_barrier_destroy(&barrier_); }
  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace

std::unique_ptr<meeting_crew> make_pthread_barrier_sums(const crew_size& size) {
  return std::make_unique<partial_sums<glibc_barrier>>(size.threads);
}

}  // namespace tutti::bench
