// SPDX-License-Identifier: Apache-2.0
// The scenario in which the first participant to leave the last episode destroys the barrier,
// knowing only that it has left.
#pragma once

#include <memory>
#include <new>
#include <string>

#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/explore.hpp"

namespace tutti::model {

template <class Barrier>
class destroying : public scenario {
 public:
  explicit destroying(rank_t participants)
      : n_(participants), barrier_(::new (storage_) Barrier(participants)), is_destroyed_(0) {}

  void thread(rank_t rank) override {
    for (unsigned episode = 0; episode < episodes; ++episode) {
      board_.write(episode, rank);
      barrier_->arrive_and_wait(rank);
      board_.check_all(episode, n_);
    }
    // relaxed: it must not help the barrier to order anything.
    if (is_destroyed_(RL_INFO).exchange(1, rl::mo_relaxed) == 0) barrier_->~Barrier();
  }

 private:
  static constexpr unsigned episodes = 2;

  rank_t n_;
  // The storage outlives the barrier, so that a late access is detected and does not crash.
  alignas(Barrier) unsigned char storage_[sizeof(Barrier)];
  Barrier* barrier_;
  rl::atomic<int> is_destroyed_;
  board board_;
};

template <class Barrier>
program destroyed_by_first(rank_t n) {
  return {"destroyed by the first to leave, n = " + std::to_string(n), n,
          [n]() -> std::unique_ptr<scenario> { return std::make_unique<destroying<Barrier>>(n); }};
}

}  // namespace tutti::model
