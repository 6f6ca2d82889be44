// SPDX-License-Identifier: Apache-2.0
// The algorithms of the registry with one wait policy, by name. registry_make.hpp defines both
// functions, which return null if the registry has no algorithm with this name.
#pragma once

#include <memory>
#include <string_view>

#include "tutti/barrier/any_class.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/team/region.hpp"

namespace tutti::detail {

// `Wait` is an entry of registry::waits.
template <class Wait>
struct waiting {
  static std::unique_ptr<any_barrier> make_barrier(std::string_view algorithm, rank_t n);
  static std::unique_ptr<any_region> make_region(std::string_view algorithm, rank_t n);
};

}  // namespace tutti::detail
