// SPDX-License-Identifier: Apache-2.0
// A barrier as the harness times it: one object for a fixed number of participants.
#pragma once

#include <cstdint>
#include <memory>

#include "tutti/platform/config.hpp"

namespace tutti::bench {

class timed_barrier {
 public:
  virtual ~timed_barrier() = default;
  // Called by one thread before a round of at most `count` episodes: barriers that serve once are
  // made here.
  virtual void prepare(std::uint64_t /*count*/) {}
  virtual void arrive_and_wait(rank_t rank) = 0;
  // `count` episodes back to back, without a virtual call between them.
  virtual void episodes(rank_t rank, std::uint64_t count) = 0;
};

// Implements both from Derived::one_episode(rank), which is inlined into the loop.
template <class Derived>
class timed_barrier_base : public timed_barrier {
 public:
  void arrive_and_wait(rank_t rank) final { self().one_episode(rank); }
  void episodes(rank_t rank, std::uint64_t count) final {
    for (std::uint64_t i = 0; i < count; ++i) self().one_episode(rank);
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

// Any object with arrive_and_wait(), as a timed_barrier.
template <class Barrier>
class plain_timed_barrier final : public timed_barrier_base<plain_timed_barrier<Barrier>> {
 public:
  template <class... Args>
  explicit plain_timed_barrier(Args&&... args) : barrier_(static_cast<Args&&>(args)...) {}
  void one_episode(rank_t) { barrier_.arrive_and_wait(); }

 private:
  Barrier barrier_;
};

// Makes it for n participants.
template <class Barrier>
std::unique_ptr<timed_barrier> make_timed(rank_t n) {
  return std::make_unique<plain_timed_barrier<Barrier>>(n);
}

}  // namespace tutti::bench
