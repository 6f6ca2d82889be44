// SPDX-License-Identifier: Apache-2.0
// Programs of the vector machine (vcode/) as tables: straight code of instructions that do as good
// as nothing, and a sort. vcode.cpp executes them on the cores. The harness writes them as text,
// lets the library's vector machine run that, and compares what they leave.
#pragma once

#include <cstdint>

#include "vcode/language/instructions.hpp"

namespace tutti::rtl {

struct vector_instruction {
  vcode::opcode code = vcode::opcode::ret;
  // The type word: i INT, 0 none.
  char type = 0;
  // COPY, POP, CPOP: count and depth. CALL: the number of the function. CONST: the INT.
  // vector_code::linked() replaces the first of IF, ELSE and CALL by the instruction to go on at.
  std::int32_t first = 0, second = 0;
};

// Functions, each up to its only RET; the first one is the entry, which takes a vector of INT and
// leaves one.
template <std::uint32_t Size>
struct vector_code {
  vector_instruction all[Size];

  constexpr vector_code linked() const {
    using enum vcode::opcode;
    vector_code made = *this;
    for (std::uint32_t i = 0; i < Size; ++i) {
      std::uint32_t at = i + 1;
      std::int32_t& target = made.all[i].first;
      if (all[i].code == branch_if) {
        for (std::uint32_t deep = 0; deep > 0 || all[at].code != branch_else; ++at) {
          if (all[at].code == branch_if) ++deep;
          if (all[at].code == end_if) --deep;
        }
        target = static_cast<std::int32_t>(at + 1);
      } else if (all[i].code == branch_else) {
        for (std::uint32_t deep = 0; deep > 0 || all[at].code != end_if; ++at) {
          if (all[at].code == branch_if) ++deep;
          if (all[at].code == end_if) --deep;
        }
        target = static_cast<std::int32_t>(at);
      } else if (all[i].code == call) {
        at = 0;
        for (std::int32_t before = all[i].first; before > 0; ++at)
          if (all[at].code == ret) --before;
        target = static_cast<std::int32_t>(at);
      }
    }
    return made;
  }
};

// 32 times the same instruction.
constexpr vector_code<33> straight(vector_instruction what) {
  vector_code<33> made{};
  for (std::uint32_t i = 0; i < 32; ++i) made.all[i] = what;
  return made;
}

// The bits of a key of the sort.
inline constexpr std::int32_t key_bits = 4;

// Sorts keys by one bit after the other, from the lowest on: keys whose bit is 0 move to the front,
// the others behind them, both in their order (Blelloch 1990, split).
constexpr auto sort_of_keys() {
  using enum vcode::opcode;
  return vector_code<6 + 49>{{
      // MAIN: keys
      {copy, 0, 1, 0},
      {length, 'i'},
      {make_segdes},
      {constant, 'i', 0},
      {call, 0, 1},
      {ret},
      // For one bit and those above it: keys segments bit -> keys
      {copy, 0, 1, 0},
      {constant, 'i', key_bits},
      {less, 'i'},
      {branch_if},
      // The bit of each key: K S b -> K S b F
      {copy, 0, 1, 2},
      {copy, 0, 1, 1},
      {copy, 0, 1, 3},
      {dist, 'i'},
      {shift_right},
      {constant, 'i', 1},
      {copy, 0, 1, 3},
      {dist, 'i'},
      {logical_and, 'i'},
      // Its opposite: K S b F N
      {constant, 'i', 1},
      {copy, 0, 1, 3},
      {dist, 'i'},
      {copy, 0, 1, 1},
      {subtract, 'i'},
      // Places of the keys whose bit is 0: K S b F N down
      {copy, 0, 1, 0},
      {copy, 0, 1, 4},
      {add_scan, 'i'},
      // Places of the others: K S b F N down up
      {copy, 0, 1, 1},
      {copy, 0, 1, 5},
      {add_reduce, 'i'},
      {copy, 0, 1, 5},
      {dist, 'i'},
      {copy, 0, 1, 3},
      {copy, 0, 1, 6},
      {add_scan, 'i'},
      {add, 'i'},
      // The place of each: K S b F N place
      {copy, 0, 1, 3},
      {integer_to_boolean},
      {cpop, 0, 1, 1},
      {cpop, 0, 1, 2},
      {select, 'i'},
      {pop, 0, 2, 1},
      // Moves them: S b K'
      {cpop, 0, 1, 3},
      {cpop, 0, 1, 1},
      {copy, 0, 1, 3},
      {permute, 'i'},
      // The next bit.
      {cpop, 0, 1, 2},
      {cpop, 0, 1, 2},
      {constant, 'i', 1},
      {add, 'i'},
      {call, 0, 1},
      {branch_else},
      {pop, 0, 2, 0},
      {end_if},
      {ret},
  }};
}

enum class vector_program : std::uint32_t { nothing, invert, sort };

// COPY 0 0 does nothing at all.
inline constexpr auto code_of_nothing = straight({vcode::opcode::copy});
// NOT inverts the elements in place.
inline constexpr auto code_of_invert = straight({vcode::opcode::logical_not, 'i'});
inline constexpr auto code_of_sort = sort_of_keys();

// The elements that a program gets: two, or keys.
constexpr std::int32_t vector_input(vector_program program, std::uint32_t i) {
  const std::uint32_t mixed = (i * 2654435761u ^ i << 7) * 2246822519u >> 9;
  return static_cast<std::int32_t>(program == vector_program::sort ? mixed % (1u << key_bits)
                                                                   : mixed);
}

// Moves elements to the places that they name themselves, which fails if one names the place of
// another, or none (vcode_failures.cpp).
enum class vector_failure : std::uint32_t { same_place, no_place };
inline constexpr vector_code<6> code_of_permute{{
    {vcode::opcode::copy, 0, 1, 0},
    {vcode::opcode::copy, 0, 1, 0},
    {vcode::opcode::length, 'i'},
    {vcode::opcode::make_segdes},
    {vcode::opcode::permute, 'i'},
    {vcode::opcode::ret},
}};
constexpr std::int32_t failing_input(vector_failure how, std::uint32_t i) {
  return static_cast<std::int32_t>(how == vector_failure::same_place ? i / 2 : i + 1);
}

// A hash of a vector's elements, one after the other.
inline constexpr std::uint32_t vector_hash_begin = 2166136261u;
constexpr std::uint32_t vector_hash(std::uint32_t before, std::int32_t element) {
  return (before ^ static_cast<std::uint32_t>(element)) * 16777619u;
}

}  // namespace tutti::rtl
