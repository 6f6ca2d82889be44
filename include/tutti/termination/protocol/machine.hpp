// SPDX-License-Identifier: Apache-2.0
// The termination-detection machine of one participant, with its algorithm chosen by name.
// interface.hpp says how to run it.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "tutti/platform/misuse.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/platform/visit.hpp"
#include "tutti/termination/protocol/algorithms.hpp"

namespace tutti::protocol {

template <class Policy = shipping>
class basic_machine {
 public:
  // `name` is one of `algorithms`. All participants of a group must use the same name, number and
  // scheme.
  // Throws std::invalid_argument for a name that is not in the list, for 0 participants, and for a
  // rank that is not below the number of participants.
  basic_machine(std::string_view name, rank_t rank, rank_t participants,
                release_scheme scheme = release_scheme::epochs) {
    const bool is_known = with_algorithm(name, [&](auto entry) {
      using one = typename decltype(entry)::template machine<Policy>;
      entry.construct(rank, participants, scheme,
                      [&](auto... arguments) { form_.template emplace<one>(arguments...); });
    });
    if (!is_known)
      refuse("there is no termination detection called '" + std::string(name) +
             "'; the names are " + tutti::detail::names_of(algorithms));
  }

  template <class Out>
  outcome passive(const counts& totals, const contribution& given, Out&& out) {
    return with([&](auto& m) { return m.passive(totals, given, out); });
  }
  template <class Out>
  outcome receive(const control& message, Out&& out) {
    return with([&](auto& m) { return m.receive(message, out); });
  }
  template <class Out>
  outcome left(Out&& out) {
    return with([&](auto& m) { return m.left(out); });
  }
  void active() noexcept { self().active(); }
  void withdraw() noexcept { self().withdraw(); }

  bool committed() const noexcept { return self().committed(); }
  bool sends_allowed() const noexcept { return self().sends_allowed(); }
  std::uint64_t episode() const noexcept { return self().episode(); }
  std::uint8_t stamp() const noexcept { return self().stamp(); }
  bool admits(std::uint8_t stamp) const noexcept { return self().admits(stamp); }
  rank_t rank() const noexcept { return self().rank(); }
  rank_t size() const noexcept { return self().size(); }

  // Calls f(rank) for each participant whose control message this one waits for. Ask these when a
  // deadline has passed.
  template <class F>
  void awaited(F&& f) const {
    tutti::detail::visit_held(form_, [&](const auto& m) { m.awaited(f); });
  }

 private:
  template <class F>
  outcome with(F&& f) {
    outcome result;
    tutti::detail::visit_held(form_, [&](auto& m) { result = f(m); });
    return result;
  }
  // The part that does not depend on the algorithm.
  const machine_base<Policy>& self() const noexcept {
    const machine_base<Policy>* base = nullptr;
    tutti::detail::visit_held(form_, [&](const auto& m) { base = &m; });
    return *base;
  }
  machine_base<Policy>& self() noexcept {
    return const_cast<machine_base<Policy>&>(std::as_const(*this).self());
  }

  // A variant of the classes of all algorithms, each class once.
  template <class Variant, class... Rest>
  struct add_classes {
    using type = Variant;
  };
  template <class... M, class First, class... Rest>
  struct add_classes<std::variant<M...>, First, Rest...>
      : add_classes<std::conditional_t<(std::is_same_v<M, First> || ...), std::variant<M...>,
                                       std::variant<M..., First>>,
                    Rest...> {};
  template <class... A>
  static auto all_classes(std::tuple<A...>*) ->
      typename add_classes<std::variant<std::monostate>,
                           typename A::template machine<Policy>...>::type;

  decltype(all_classes(static_cast<registry::algorithms*>(nullptr))) form_;
};

using machine = basic_machine<>;

}  // namespace tutti::protocol
