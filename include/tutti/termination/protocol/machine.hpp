// SPDX-License-Identifier: Apache-2.0
// The termination-detection machine of one participant, with its algorithm chosen by name.
// interface.hpp says how to run it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "tutti/platform/misuse.hpp"
#include "tutti/termination/protocol/algorithms.hpp"
#include "tutti/termination/protocol/gather.hpp"
#include "tutti/termination/protocol/ring.hpp"

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
    if (name == "star")
      form_.template emplace<gather<Policy>>(rank, participants, star_fan(participants),
                                             criterion::safra, scheme);
    else if (name == "tree")
      form_.template emplace<gather<Policy>>(rank, participants, tree_fan, criterion::safra,
                                             scheme);
    else if (name == "waves")
      form_.template emplace<gather<Policy>>(rank, participants, tree_fan, criterion::four_counter,
                                             scheme);
    else if (name == "ring")
      form_.template emplace<ring<Policy>>(rank, participants, scheme);
    else
      refuse("there is no termination detection called '" + std::string(name) +
             "'; the names are star, tree, ring, waves");
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
    if (const auto* m = std::get_if<gather<Policy>>(&form_)) return m->awaited(f);
    if (const auto* m = std::get_if<ring<Policy>>(&form_)) return m->awaited(f);
  }

 private:
  template <class F>
  outcome with(F&& f) {
    if (auto* m = std::get_if<gather<Policy>>(&form_)) return f(*m);
    return f(*std::get_if<ring<Policy>>(&form_));
  }
  // The part that does not depend on the algorithm.
  const machine_base<Policy>& self() const noexcept {
    if (const auto* m = std::get_if<gather<Policy>>(&form_)) return *m;
    return *std::get_if<ring<Policy>>(&form_);
  }
  machine_base<Policy>& self() noexcept {
    return const_cast<machine_base<Policy>&>(std::as_const(*this).self());
  }

  std::variant<std::monostate, gather<Policy>, ring<Policy>> form_;
};

using machine = basic_machine<>;

}  // namespace tutti::protocol
