// SPDX-License-Identifier: Apache-2.0
// The list of reductions as parameters of tests.
#pragma once

#include <string_view>
#include <vector>

#include "tutti/reduce/reduction.hpp"

namespace tutti::test {

// Those of the list that are for n participants.
inline std::vector<std::string_view> reduction_names(rank_t n) {
  std::vector<std::string_view> names;
  for (const reduction_info& each : reductions)
    if (each.only_for == 0 || each.only_for == n) names.push_back(each.name);
  return names;
}

}  // namespace tutti::test
