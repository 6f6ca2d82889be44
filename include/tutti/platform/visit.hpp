// SPDX-License-Identifier: Apache-2.0
// Calls a function with what a variant holds, by comparisons of the index instead of std::visit's
// table of functions, so that the first alternatives cost least and everything can be inlined.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace tutti::detail {

// Calls f(*held). Does nothing if the variant holds std::monostate.
template <class Variant, class F>
constexpr void visit_held(Variant& variant, F f) {
  const auto call = [&]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
    if (variant.index() != Index) return false;
    auto* held = std::get_if<Index>(&variant);
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(*held)>, std::monostate>) f(*held);
    return true;
  };
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (void)(call(std::integral_constant<std::size_t, Index>()) || ...);
  }
  (std::make_index_sequence<std::variant_size_v<std::remove_const_t<Variant>>>());
}

}  // namespace tutti::detail
