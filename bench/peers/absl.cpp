// SPDX-License-Identifier: Apache-2.0
// needs absl::synchronization of absl, for barrier event
// Abseil's absl::Barrier serves one episode: a round gets an array of new ones, made before it is
// timed.
#include <absl/synchronization/barrier.h>
#include <absl/synchronization/mutex.h>

#include <deque>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "tutti/platform/array.hpp"

namespace tutti::bench {
namespace {

class absl_barrier final : public timed_barrier_base<absl_barrier> {
 public:
  explicit absl_barrier(rank_t n) : participants_(static_cast<int>(n)), next_(n) {}

  void prepare(std::uint64_t count) override {
    barriers_.clear();
    for (std::uint64_t i = 0; i < count; ++i) barriers_.emplace_back(participants_);
    for (auto& next : next_) next.index = 0;
  }
  void one_episode(rank_t rank) { barriers_[next_[rank].index++].Block(); }

 private:
  struct alignas(cache_line) position {
    std::size_t index = 0;
  };
  const int participants_;
  std::deque<absl::Barrier> barriers_;
  std::vector<position> next_;
};

class by_condition final : public counting_notifier<std::uint64_t> {
 public:
  explicit by_condition(rank_t receivers) : counting_notifier(receivers) {}
  void notify() override {
    {
      const absl::MutexLock lock(&mutex_);
      ++count_;
    }
    has_one_receiver() ? changed_.Signal() : changed_.SignalAll();
  }
  void wait(rank_t receiver) override {
    const absl::MutexLock lock(&mutex_);
    while (count_ == seen_by(receiver)) changed_.Wait(&mutex_);
    seen_by(receiver) = count_;
  }

 private:
  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::vector<contender> peer_absl() {
  return {{.name = "absl::Barrier",
           .summary = "Abseil: one-shot, a new one each episode",
           .barrier = [](rank_t n) { return std::make_unique<absl_barrier>(n); }},
          {.family = "absl",
           .name = "absl::CondVar",
           .summary = "Abseil: with absl::Mutex",
           .events = make_notifier<by_condition>}};
}

}  // namespace tutti::bench
