// SPDX-License-Identifier: Apache-2.0
// Reads memory.max (v2) or memory.limit_in_bytes (v1) of the process's group and of those above it.
#include "vcode/machine/group_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "tutti/platform/cpu_quota.hpp"

namespace tutti::vcode {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// "max" and what is no number mean no limit.
std::size_t limit_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t bytes = 0;
  return file >> bytes ? bytes : unlimited;
}

}  // namespace

std::size_t group_memory_limit(const std::string& root) {
  std::size_t least = unlimited;
  for (const auto& [is_v2, folder] : platform::group_folders("memory", root))
    least = std::min(least, limit_in(folder + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes")));
  return least == unlimited ? unlimited : least / 8 * 7;
}

}  // namespace tutti::vcode
