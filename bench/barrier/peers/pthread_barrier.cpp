// SPDX-License-Identifier: Apache-2.0
// glibc's pthread_barrier_t.
#include <pthread.h>

#include "bench/barrier/peers.hpp"

namespace tutti::bench {
namespace {

class pthread_subject final : public subject_base<pthread_subject> {
 public:
  explicit pthread_subject(rank_t n) { pthread_barrier_init(&barrier_, nullptr, n); }
  ~pthread_subject() override { pthread_barrier_destroy(&barrier_); }
  void one_episode(rank_t) { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

}  // namespace

std::unique_ptr<subject> make_pthread_barrier(rank_t n) {
  return std::make_unique<pthread_subject>(n);
}

}  // namespace tutti::bench
