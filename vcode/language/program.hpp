// SPDX-License-Identifier: Apache-2.0
// A parsed program: flat code, one entry for each instruction in the text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vcode/language/instructions.hpp"

namespace tutti::vcode {

struct place {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

struct instruction {
  opcode code = opcode::ret;
  // The type word.
  kind type = kind::none;
  // COPY, POP, CPOP: count and depth. IF, ELSE: the instruction to go on at, in `first`. CALL: the
  // function. CONST: the constant.
  std::int32_t first = 0;
  std::int32_t second = 0;
  place where;
};

// BOOL elements are in `integers`; a segment descriptor is one integer.
struct constant_data {
  kind type = kind::integer;
  std::vector<std::int32_t> integers;
  std::vector<double> reals;
};

// A type in a stack effect: a kind, or a variable that stands for any type. The two parts of a PAIR
// follow it, each with its own parts behind it. So nothing that follows a type needs to recurse,
// however deep PAIRs are nested.
struct type_node {
  // `none` marks a variable.
  vcode::kind kind = vcode::kind::none;
  std::int32_t variable = 0;
  bool operator==(const type_node&) const = default;
};
using type_term = std::vector<type_node>;

// The types that a function takes and leaves, deepest first.
struct stack_effect {
  std::vector<type_term> inputs;
  // One entry for each possible stack, as paths may leave different ones. Empty if no path reaches
  // RET.
  std::vector<std::vector<type_term>> outputs;
  // The first instruction that uses values from below those that the function itself pushed.
  std::uint32_t first_reach = 0;
  bool operator==(const stack_effect& other) const {
    return inputs == other.inputs && outputs == other.outputs;
  }
};

struct function {
  std::string name;
  place where;
  // Index into `code`.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  stack_effect effect;
  // The most values that the function, without its callees, adds above its inputs.
  std::uint32_t growth = 0;
};

struct program_data {
  std::string file;
  std::vector<instruction> code;
  std::vector<constant_data> constants;
  std::vector<function> functions;
  std::uint32_t entry = 0;
  std::vector<std::string> warnings;

  const function& function_of(std::size_t at) const;
};

}  // namespace tutti::vcode
