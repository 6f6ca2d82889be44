// SPDX-License-Identifier: Apache-2.0
// The call graph: groups of functions that call each other, callees first.
#pragma once

#include <cstdint>
#include <vector>

#include "vcode/language/program.hpp"

namespace tutti::vcode {

struct call_group {
  std::vector<std::uint32_t> functions;
  bool recursive = false;
};

// Returns the strongly connected components, by Tarjan's algorithm with an explicit stack.
std::vector<call_group> call_groups(const program_data& data);

}  // namespace tutti::vcode
