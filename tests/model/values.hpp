// SPDX-License-Identifier: Apache-2.0
// The values that participants contribute to a reduction: another value each time, combined so that
// the order shows.
#pragma once

#include "tutti/platform/config.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti::model {

constexpr unsigned value_of(unsigned episode, rank_t rank) { return 10 * episode + rank + 1; }

inline constexpr auto combine_in_order = [](unsigned a, unsigned b) { return 31 * a + b; };

constexpr unsigned expected(unsigned episode, rank_t n) {
  return schedule::fold(
      0, n, [episode](rank_t rank) { return value_of(episode, rank); }, combine_in_order);
}

}  // namespace tutti::model
