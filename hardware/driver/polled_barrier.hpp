// SPDX-License-Identifier: Apache-2.0
// A barrier whose participants ask a unit, again and again, whether they may depart.
#pragma once

#include <thread>

#include "tutti/barrier/any_class.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::hardware {

// Derived has arrive(rank) and may_depart(rank).
template <class Derived>
class polled_barrier : public any_barrier {
 public:
  void arrive_and_wait(rank_t rank) override {
    self().arrive(rank);
    while (!self().may_depart(rank)) std::this_thread::yield();
  }
  bool arrive_and_wait(rank_t rank, deadline until) override {
    self().arrive(rank);
    while (!self().may_depart(rank)) {
      if (until.passed<native>()) return self().may_depart(rank);
      std::this_thread::yield();
    }
    return true;
  }
  void episodes(rank_t rank, std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) arrive_and_wait(rank);
  }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace tutti::hardware
