// SPDX-License-Identifier: Apache-2.0
// A wait policy chosen by name at run time. It costs a few integer comparisons per wait, and one
// for the first policy of the list.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tutti/platform/misuse.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/list.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// `List` is a tuple of entries like registry::waits.
template <class Memory = native, class List = registry::waits>
class any_wait;

template <class Memory, class... Entry>
class any_wait<Memory, std::tuple<Entry...>> {
  template <class E>
  using policy = typename E::template type<Memory>;
  using indices = std::index_sequence_for<Entry...>;

 public:
  using wait_state = std::tuple<typename policy<Entry>::wait_state...>;

  // Throws std::invalid_argument for a name that the list does not have, and for patience with a
  // policy that has none.
  explicit any_wait(rank_t participants, std::string_view name = default_wait, patience p = {})
      : chosen_(index_of(name)), policies_(for_each<Entry>(participants)...) {
    if (!p.is_open() && !set_patience(p))
      refuse("wait policy '" + std::string(name) +
             "' has no patience: it always waits in its own way (" +
             detail::names_where(all, [](const wait_info& w) { return w.has_patience; }) + " has)");
  }

  // Returns false if the policy has no patience.
  bool set_patience(patience p) noexcept {
    bool has_patience = false;
    with_chosen([&](auto& wait, auto) { has_patience = set_patience_of(wait, p); }, indices());
    return has_patience;
  }

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state& mine, const Word& word, std::memory_order order, Ready ready,
             Deadline until = {}) noexcept {
    bool in_time = false;
    with_chosen(
        [&](auto& wait, auto index) {
          in_time = wait.until(std::get<index()>(mine), word, order, ready, until);
        },
        indices());
    return in_time;
  }

  template <class Word>
  void notify(const Word& word) noexcept {
    with_chosen([&](auto& wait, auto) { wait.notify(word); }, indices());
  }
  template <class Word>
  void notify_ordered(const Word& word) noexcept {
    with_chosen([&](auto& wait, auto) { wait.notify_ordered(word); }, indices());
  }

 private:
  static constexpr std::array all{registry::info_of_wait<Entry>()...};

  template <class>
  static constexpr rank_t for_each(rank_t participants) noexcept {
    return participants;
  }

  // Calls f(policy, index) for the chosen policy; index() is a constant expression.
  template <class F, std::size_t... Index>
  void with_chosen(F f, std::index_sequence<Index...>) noexcept {
    (void)((chosen_ == Index &&
            (f(std::get<Index>(policies_), std::integral_constant<std::size_t, Index>()), true)) ||
           ...);
  }

  static std::size_t index_of(std::string_view name) {
    const wait_info* found = detail::find_by_name(all, name);
    if (found == nullptr)
      refuse("wait policy '" + std::string(name) + "' is not one of " + detail::names_of(all));
    return static_cast<std::size_t>(found - all.data());
  }

  const std::size_t chosen_;
  std::tuple<policy<Entry>...> policies_;
};

}  // namespace tutti
