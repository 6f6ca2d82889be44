// SPDX-License-Identifier: Apache-2.0
// The integer arithmetic that the schedules share.
#pragma once

#include "tutti/platform/config.hpp"

namespace tutti::schedule {

// Returns a / b, rounded up.
constexpr rank_t ceil_div(rank_t a, rank_t b) noexcept { return a / b + (a % b != 0 ? 1 : 0); }

// Returns the smallest r with base^r >= n: the number of rounds of a schedule in which each round
// multiplies the number of known ranks by `base`.
constexpr rank_t ceil_log(rank_t n, rank_t base) noexcept {
  rank_t rounds = 0;
  for (std::uint64_t reached = 1; reached < n; reached *= base) ++rounds;
  return rounds;
}

}  // namespace tutti::schedule
