// SPDX-License-Identifier: Apache-2.0
// The types of vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::vcode {

// `none` is the kind of instructions without a type word. `character` is written CHAR and stored as
// INT.
enum class kind : std::uint8_t { integer, real, boolean, segdes, pair, character, none };

constexpr std::string_view name_of(kind k) {
  constexpr std::string_view names[] = {"INT", "FLOAT", "BOOL", "SEGDES", "PAIR", "CHAR", ""};
  return names[static_cast<std::size_t>(k)];
}

// Returns the bytes of one element in memory.
constexpr std::size_t size_of(kind k) { return k == kind::real ? 8 : k == kind::boolean ? 1 : 4; }

}  // namespace tutti::vcode
