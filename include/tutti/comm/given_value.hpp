// SPDX-License-Identifier: Apache-2.0
// The value that a participant of a communicator gives to idle(), and what an endpoint does with
// it: it leaves the value in the state of its rank (shared_state.hpp), combines the values of all
// when the episode is over, and takes the result.
#pragma once

#include "tutti/platform/config.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti::detail {

// Calls of idle() without a value give this.
struct no_given_value {
  static constexpr const void* type() noexcept { return nullptr; }
  template <class RankSlot>
  void leave(RankSlot&) const noexcept {}
  template <class Shared>
  void fold(Shared&) const noexcept {}
  template <class Shared>
  void take(const Shared&) const noexcept {}
};

// `value` is replaced by the result.
template <class T, class Op>
struct given_value {
  T& value;
  [[no_unique_address]] Op op;

  // The address identifies the types of the value and of its operation.
  static constexpr char mark = 0;
  static constexpr const void* type() noexcept { return &mark; }
  template <class RankSlot>
  void leave(RankSlot& mine) const noexcept {
    mine.value = value;
  }
  // Combines all values. The participant that found the episode over calls this for everybody.
  template <class Shared>
  void fold(Shared& all) const noexcept {
    all.result = canonical(schedule::fold(
        0, all.participants(), [&](rank_t rank) { return static_cast<T>(all.of(rank).value); },
        [this](const T& a, const T& b) { return static_cast<T>(op(a, b)); }));
  }
  template <class Shared>
  void take(const Shared& all) const noexcept {
    value = static_cast<T>(all.result);
  }
};

}  // namespace tutti::detail
