// SPDX-License-Identifier: Apache-2.0
// A reduction of the list, chosen by name at run time. It costs a few integer comparisons.
// Hosted only: it finds the reduction by std::string_view.
#pragma once

#include <string_view>
#include <tuple>
#include <variant>

#include "tutti/platform/visit.hpp"
#include "tutti/reduce/list.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot has the meaning that it has for exchange_reduction. `List` is a tuple of entries like
// registry::reductions.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>,
          class List = registry::reductions>
class any_reduction;

template <class Slot, class Memory, class Wait, class... Entry>
class any_reduction<Slot, Memory, Wait, std::tuple<Entry...>> {
  template <class E>
  using type = typename E::template type<Slot, Memory, Wait>;

 public:
  // Makes the reduction of this name. Returns false if the list does not have it. Throws what the
  // reduction's constructor throws.
  bool emplace(std::string_view name, rank_t participants) {
    return (
        (Entry::info.name == name && (held_.template emplace<type<Entry>>(participants), true)) ||
        ...);
  }
  explicit operator bool() const noexcept { return !std::holds_alternative<std::monostate>(held_); }

  // These do what the functions of the reduction do.
  template <class T, class Combine, class Deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline) {
    bool in_time = false;
    detail::visit_held(held_, [&](auto& reduction) {
      in_time = reduction.all(rank, mine, combine, result, deadline);
    });
    return in_time;
  }
  bool set_patience(patience p) noexcept {
    bool has_patience = false;
    detail::visit_held(held_, [&](auto& reduction) { has_patience = reduction.set_patience(p); });
    return has_patience;
  }

  // Returns the reduction if it is of this class, or null.
  template <template <class, class, class> class Reduction>
  auto* get_if() noexcept {
    return std::get_if<Reduction<Slot, Memory, Wait>>(&held_);
  }

 private:
  std::variant<std::monostate, type<Entry>...> held_;
};

}  // namespace tutti
