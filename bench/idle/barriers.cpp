// SPDX-License-Identifier: Apache-2.0
// Barriers beside the empty episode. They cannot be refuted and know nothing of messages: the floor, not a rival.
#include <pthread.h>

#include <barrier>

#include "bench/idle/trial.hpp"

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

template <class Barrier>
trial meet(rank_t n, const std::string& family, std::shared_ptr<Barrier> barrier) {
  return {"idle",
          family,
          "barrier",
          "empty_episode",
          n,
          [barrier](team& threads, const placement& where, std::uint64_t count) {
            return time_team(threads, where, [&](rank_t) {
              for (std::uint64_t i = 0; i < count; ++i) barrier->arrive_and_wait();
            });
          }};
}

}  // namespace

std::vector<trial> barrier_trials(rank_t n) {
  return {meet(n, "std", std::make_shared<std::barrier<>>(static_cast<std::ptrdiff_t>(n))),
          meet(n, "pthread", std::make_shared<posix_barrier>(n))};
}

}  // namespace tutti::bench
