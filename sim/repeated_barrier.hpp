// SPDX-License-Identifier: Apache-2.0
// A barrier as what simulated threads repeat.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
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

// On a machine with atomic instructions of 32 bits only, tutti's barriers are made for
// narrow_simulated, by make_narrow(n), and for simulated elsewhere. Throws std::invalid_argument
// for a wait policy that needs an operating system, which the former does not have.
template <class Wait, class Make, class MakeNarrow>
std::unique_ptr<repeated_object> made_for_width(rank_t n, Make make, MakeNarrow make_narrow) {
  const auto repeated = [&](auto made) -> std::unique_ptr<repeated_object> {
    using barrier = typename decltype(made)::element_type;
    return std::make_unique<repeated_barrier<barrier>>(std::move(made));
  };
  if (!simulated::hardware().is_narrow) return repeated(make(n));
  if constexpr (Wait::info.name == "spin")
    return repeated(make_narrow(n));
  else
    throw std::invalid_argument(simulated::hardware().name +
                                " has no operating system: the only wait policy is spin, not " +
                                std::string(Wait::info.name));
}

// Adds tutti's algorithms with a wait policy of the list. CMake writes a source for each policy.
template <class Wait>
void add_barriers_of_wait(std::vector<contender>& to);

}  // namespace tutti::sim
