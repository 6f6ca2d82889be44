// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that the schedules share.
#pragma once

#include "tutti/platform/config.hpp"

namespace tutti::schedule {

constexpr rank_t ceil_div(rank_t a, rank_t b) noexcept { return (a + b - 1) / b; }

// The smallest r with base^r >= n: rounds of a schedule that multiplies what is known by `base` each round.
constexpr rank_t ceil_log(rank_t n, rank_t base) noexcept {
  rank_t rounds = 0;
  for (std::uint64_t reached = 1; reached < n; reached *= base) ++rounds;
  return rounds;
}

}  // namespace tutti::schedule
