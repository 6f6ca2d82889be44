// SPDX-License-Identifier: Apache-2.0
// Lists of things with names: messages print all names, and callers find an entry by its name.
// Hosted only: it makes a std::string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::detail {

// Returns the names of the entries for which fits(entry) is true: "spin, yield, park".
template <class List, class Fits>
std::string names_where(const List& list, Fits fits) {
  std::string names;
  for (const auto& each : list)
    if (fits(each)) names.append(names.empty() ? "" : ", ").append(each.name);
  return names;
}
template <class List>
std::string names_of(const List& list) {
  return names_where(list, [](const auto&) { return true; });
}

// Returns the entry with this name, or null if there is none.
template <class List>
constexpr auto* find_by_name(const List& list, std::string_view name) noexcept {
  for (const auto& each : list)
    if (each.name == name) return &each;
  return static_cast<decltype(&*list.begin())>(nullptr);
}

}  // namespace tutti::detail
