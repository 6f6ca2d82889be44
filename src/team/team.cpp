// SPDX-License-Identifier: Apache-2.0
// The teams of the native platform.

#include "tutti/platform/names.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/on_platform.hpp"

namespace tutti {

bool detail::named_barriers<native>::is_tuttis_choice(std::string_view name) noexcept {
  return name.empty() || name == default_algorithm || name == default_rankless_algorithm;
}

bool detail::named_barriers<native>::ends_regions(std::string_view name) noexcept {
  return find_by_name(algorithms, name) != nullptr;
}

template class basic_team<native>;
template class basic_member<native>;

}  // namespace tutti
