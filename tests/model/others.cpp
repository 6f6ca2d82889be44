// SPDX-License-Identifier: Apache-2.0
// Bugs that other projects had in their barriers, rebuilt from the public descriptions of their
// repairs. The checker must find each, and must find nothing in the repaired form.
#include <memory>

#include "tests/model/checked.hpp"
#include "tests/model/data_check.hpp"
#include "tests/model/subjects.hpp"

namespace tutti::model {
namespace {

// The distributed barrier of LLVM's OpenMP runtime before August 2026 (llvm-project, pull request
// 213845). A thread clears its flag `still_needed` when it arrives, the leader of its group waits
// until the flags of the group are clear, and a `go` word releases everybody. The flag was
// volatile: on a machine with weak memory order the leader could see a clear flag before it could
// see what the thread had written before the barrier. Here a relaxed atomic stands for the volatile
// flag. One group is enough to show it.
template <bool Repaired>
class distributed_barrier {
 public:
  explicit distributed_barrier(rank_t n) : n_(n) {
    // relaxed: no other thread has the barrier yet.
    for (rank_t rank = 0; rank < n; ++rank) still_needed_[rank].store(1, relaxed);
  }

  void arrive_and_wait(rank_t rank) {
    const std::uint32_t episode = ++episodes_[rank];
    if (rank != 0) {
      // release: publishes the work before the barrier; pairs with the leader's fence. relaxed: the
      // bug.
      still_needed_[rank].store(0, Repaired ? release : relaxed);
      // acquire: pairs with the release of `go_`.
      while (go_.load(acquire) < episode) checked::relax();
      return;
    }
    for (rank_t other = 1; other < n_; ++other) {
      // relaxed: the fence below orders what follows.
      while (still_needed_[other].load(relaxed) != 0) checked::relax();
    }
    if (Repaired) checked::fence("llvm.gathered", acquire);
    // relaxed: the release of `go_` publishes the reset.
    for (rank_t other = 1; other < n_; ++other) still_needed_[other].store(1, relaxed);
    // release: publishes everybody's work.
    go_.store(episode, release);
  }

 private:
  rank_t n_;
  std::uint32_t episodes_[most_threads] = {};
  checked::atomic<std::uint32_t> still_needed_[most_threads], go_{0};
};

template <bool Repaired>
program llvm(rank_t n) {
  return meet("distributed barrier", n, [](rank_t participants) {
    return std::make_unique<distributed_barrier<Repaired>>(participants);
  });
}

// The barrier with a time limit by which workers of the Rust library tokio meet for a task dump
// (tokio, pull request 8370). A wait whose limit passed returned without taking its arrival back,
// so a later wait of the same thread was counted as a second participant, and released a barrier at
// which not all had arrived.
template <bool Repaired>
class time_limited_barrier {
 public:
  explicit time_limited_barrier(rank_t n) : n_(n) {}

  // Returns false if the limit passed, which may happen at any time.
  bool wait(bool has_limit) {
    mutex_.lock();
    const unsigned mine = generation_;
    count_ = count_ + 1;
    if (count_ == n_) {
      count_ = 0;
      generation_ = mine + 1;
      mutex_.unlock();
      return true;
    }
    while (generation_ == mine) {
      if (has_limit && rl::rand(2) == 0) {
        if (Repaired) count_ = count_ - 1;
        mutex_.unlock();
        return false;
      }
      mutex_.unlock();
      checked::yield();
      mutex_.lock();
    }
    mutex_.unlock();
    return true;
  }

 private:
  unsigned n_;
  checked::mutex mutex_;
  checked_plain<unsigned> count_{0}, generation_{0};
};

// Thread 0 waits with a limit, and without one if that has passed.
template <bool Repaired>
class meets_after_a_limit : public scenario {
 public:
  void thread(rank_t rank) override {
    board_.write(0, rank);
    if (rank != 0 || !barrier_.wait(true)) barrier_.wait(false);
    board_.check_all(0, participants);
  }
  static constexpr rank_t participants = 2;

 private:
  time_limited_barrier<Repaired> barrier_{participants};
  board board_;
};

template <bool Repaired>
program tokio() {
  using episode = meets_after_a_limit<Repaired>;
  return {"barrier with a limit", episode::participants,
          [] { return std::make_unique<episode>(); }};
}

}  // namespace

std::vector<control> bugs_of_others() {
  return {
      {"LLVM 213845: a volatile flag publishes nothing", llvm<false>(3), llvm<true>(3)},
      {"tokio 8370: a limit that passed leaks its arrival", tokio<false>(), tokio<true>()},
  };
}

}  // namespace tutti::model
