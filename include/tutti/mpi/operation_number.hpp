// SPDX-License-Identifier: Apache-2.0
// What idle(vote, value, op) passes to termination detection: the value's bytes, a function that
// combines two values, and a number by which processes notice that their operations differ.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tutti/reduce/operations.hpp"
#include "tutti/termination/protocol/interface.hpp"

namespace tutti::mpi {

// A number from 1 to 254, the same on every process that runs the same program. Two different
// operations may get the same number.
template <class T, class Op>
constexpr std::uint32_t operation_number() noexcept {
  // FNV-1a of the names of the types.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : std::string_view(__PRETTY_FUNCTION__))
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
  return static_cast<std::uint32_t>(hash % 254) + 1;
}

template <class T, class Op>
protocol::value_t combine_values(const protocol::value_t& left, const protocol::value_t& right) {
  protocol::value_t result{};
  result = static_cast<T>(Op{}(static_cast<T>(left), static_cast<T>(right)));
  return result;
}

template <class T, class Op>
protocol::contribution contribution_of(bool vote, const T& value) noexcept {
  static_assert(protocol::value_t::fits<T>, "values of idle() between processes: 16 bytes at most");
  static_assert(std::is_empty_v<Op> && std::is_default_constructible_v<Op>,
                "operations of idle() between processes have no state");
  protocol::contribution given;
  given.value = value;
  given.combine = combine_values<T, Op>;
  given.operation = operation_number<T, Op>();
  given.vote = vote ? 1 : 0;
  return given;
}

}  // namespace tutti::mpi
