// SPDX-License-Identifier: Apache-2.0
// Who calls whom: functions in groups that call each other, callees first.
#pragma once

#include <cstdint>
#include <vector>

#include "language/program.hpp"

namespace tutti::vcode {

struct call_group {
  std::vector<std::uint32_t> functions;
  bool recursive = false;
};

// Strongly connected components by Tarjan's algorithm, without recursion of its own.
std::vector<call_group> call_groups(const program_data& data);

}  // namespace tutti::vcode
