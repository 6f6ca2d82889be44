// SPDX-License-Identifier: Apache-2.0
// Reads memory.max (v2) or memory.limit_in_bytes (v1) of the process's group and of those above it.
#include "vcode/machine/group_memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>

#include "tutti/platform/cpu_quota.hpp"

namespace tutti::vcode {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::string whole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// "max" and what is no number mean no limit.
std::size_t limit_in(const std::string& path) {
  const std::string text = whole(path);
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc() && end != text.data() ? bytes : unlimited;
}

}  // namespace

std::size_t group_memory_limit(const std::string& root) {
  std::size_t least = unlimited;
  for (const auto& at : platform::cpu_groups(whole(root + "/proc/self/cgroup"),
                                             whole(root + "/proc/self/mountinfo"), "memory")) {
    const char* const file = at.is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string group = at.group;;) {
      least = std::min(least, limit_in(root + at.mount + group + file));
      const std::size_t parent = group.find_last_of('/');
      if (parent == std::string::npos) break;
      group.erase(parent);
    }
  }
  return least == unlimited ? unlimited : least / 8 * 7;
}

}  // namespace tutti::vcode
