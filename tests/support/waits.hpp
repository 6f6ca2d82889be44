// SPDX-License-Identifier: Apache-2.0
// What tests ask about a wait policy that they know by name.
#pragma once

#include <string_view>

#include "tutti/platform/names.hpp"
#include "tutti/wait/list.hpp"

namespace tutti::test {

// Whether a waiter never gives its core away. False for a name that is not in the list.
inline bool burns_the_core(std::string_view wait) {
  const wait_info* policy = detail::find_by_name(wait_policies, wait);
  return policy != nullptr && policy->burns_the_core;
}

}  // namespace tutti::test
