// SPDX-License-Identifier: Apache-2.0
// A barrier as what simulated threads repeat.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/contenders.hpp"
#include "sim/simulated.hpp"

namespace tutti::sim {

template <class Barrier>
class repeated_barrier final : public repeated_object {
 public:
  explicit repeated_barrier(std::unique_ptr<Barrier> barrier) : barrier_(std::move(barrier)) {}
  void episode(rank_t rank) override {
    do_work(rank);
    barrier_->arrive_and_wait(rank);
  }

 private:
  std::unique_ptr<Barrier> barrier_;
};

// Adds tutti's algorithms with a wait policy of the list. CMake writes a source for each policy.
template <class Wait>
void add_barriers_of_wait(std::vector<contender>& to);

}  // namespace tutti::sim
