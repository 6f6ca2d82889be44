// SPDX-License-Identifier: Apache-2.0
// Barriers whose faults and costs are known.
#pragma once

#include <time.h>

#include <atomic>
#include <memory>
#include <vector>

#include "bench/contenders/contender.hpp"
#include "bench/harness/ticks.hpp"
#include "bench/harness/timed_barrier.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti::bench {

// A counter that everyone spins on; whoever leaves then loses `delay_ns`.
class slowed_barrier : public timed_barrier {
 public:
  slowed_barrier(rank_t n, double delay_ns) : participants_(n), delay_ns_(delay_ns) {}

  void arrive_and_wait(rank_t) override {
    const std::uint64_t ticket = count_.fetch_add(1, acq_rel);  // publishes, and sees the earlier
    const std::uint64_t target = (ticket / participants_ + 1) * participants_;
    while (count_.load(acquire) < target) platform::pause();  // pairs with the last fetch_add
    if (delay_ns_ > 0) spin_for_ns(delay_ns_);
  }
  void episodes(rank_t rank, std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) arrive_and_wait(rank);
  }

 private:
  const rank_t participants_;
  const double delay_ns_;
  alignas(cache_line) std::atomic<std::uint64_t> count_{0};
};

// Nobody waits for anybody.
class no_barrier final : public timed_barrier_base<no_barrier> {
 public:
  void one_episode(rank_t) {}
};

// After the warm-up of each round, rank 1 sleeps.
class drowsy_barrier final : public slowed_barrier {
 public:
  explicit drowsy_barrier(rank_t n) : slowed_barrier(n, 0) {}
  void prepare(std::uint64_t) override { warm_ = false; }
  void episodes(rank_t rank, std::uint64_t count) override {
    slowed_barrier::episodes(rank, count);
    if (rank != 1 || warm_) return;
    warm_ = true;
    const timespec nap{0, 50'000'000};  // long even on a crowded machine
    nanosleep(&nap, nullptr);
  }

 private:
  bool warm_ = true;  // only rank 1 looks, except between rounds
};

// After a wait of more than `long_ns`, an episode costs `delay_ns` more until `memory_ns` have
// passed.
class sulking_barrier final : public slowed_barrier {
 public:
  sulking_barrier(rank_t n, double long_ns, double delay_ns, double memory_ns)
      : slowed_barrier(n, 0), long_ns_(long_ns), delay_ns_(delay_ns), memory_ns_(memory_ns) {}

  void arrive_and_wait(rank_t rank) override {
    const std::uint64_t begin = ticks();
    slowed_barrier::arrive_and_wait(rank);
    const std::uint64_t end = ticks();
    // relaxed: a hint.
    if (end - begin > from_ns(long_ns_)) until_.store(end + from_ns(memory_ns_), relaxed);
    if (end < until_.load(relaxed)) spin_for_ns(delay_ns_);
  }
  void episodes(rank_t rank, std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) arrive_and_wait(rank);
  }

 private:
  const double long_ns_, delay_ns_, memory_ns_;
  alignas(cache_line) std::atomic<std::uint64_t> until_{0};
};

inline contender fake(const std::string& name, decltype(contender::barrier) make) {
  return {.family = "fake", .name = name, .barrier = std::move(make)};
}

}  // namespace tutti::bench
