// SPDX-License-Identifier: Apache-2.0
#include "workloads/synthetic/vectors.hpp"

#include <cmath>

namespace tutti::synthetic {

std::int64_t multiply_and_sum_floors(const vectors& mine) {
  const std::size_t length = mine.v3.size();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    mine.v3[i] = mine.v1[i] * mine.v2[i];
    sum += static_cast<std::int64_t>(std::floor(mine.v3[i]));
  }
  return sum;
}

std::int64_t floor_of(double product) {
  auto n = static_cast<std::int64_t>(product);
  if (static_cast<double>(n) > product) --n;
  return n;
}

}  // namespace tutti::synthetic
