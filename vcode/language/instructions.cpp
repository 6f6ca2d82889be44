// SPDX-License-Identifier: Apache-2.0
// Looks instructions up by name.
#include "vcode/language/instructions.hpp"

#include <unordered_map>

namespace tutti::vcode {

const instruction_info* find_instruction(std::string_view name) {
  static const auto table = [] {
    std::unordered_map<std::string_view, const instruction_info*> result;
    for (const auto& each : instructions) result.emplace(each.name, &each);
    return result;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace tutti::vcode
