// SPDX-License-Identifier: Apache-2.0
// tutti's barriers on simulated machines with one wait policy. Only the sources that CMake writes
// for the policies include this.
#pragma once

#include <tuple>

#include "sim/repeated_barrier.hpp"
#include "tutti/registry.hpp"

namespace tutti::sim {

template <class Wait, class... Algorithm>
void add_algorithms(std::vector<contender>& to, std::tuple<Algorithm...>*) {
  (to.push_back({.family = "tutti",
                 .name = std::string(Algorithm::info.name),
                 .wait = std::string(Wait::info.name),
                 .summary = std::string(Algorithm::info.summary),
                 .polls_without_end = Wait::info.name == "spin",
                 .make = [](rank_t n) -> std::unique_ptr<repeated_object> {
                   using wait = typename Wait::template type<simulated>;
                   using narrow = typename Wait::template type<narrow_simulated>;
                   return made_for_width<Wait>(
                       n, [](rank_t all) { return Algorithm::template make<simulated, wait>(all); },
                       [](auto all) {
                         return Algorithm::template make<narrow_simulated, narrow>(all);
                       });
                 }}),
   ...);
}

template <class Wait>
void add_barriers_of_wait(std::vector<contender>& to) {
  add_algorithms<Wait>(to, static_cast<registry::algorithms*>(nullptr));
}

}  // namespace tutti::sim
