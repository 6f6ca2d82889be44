// SPDX-License-Identifier: Apache-2.0
// The instruction table: names, type words, operands and results of all instructions. The parser,
// the verifier, the interpreter and the messages read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "vcode/language/kind.hpp"

namespace tutti::vcode {

// clang-format off
enum class opcode : std::uint8_t {
  // Elementwise.
  add, subtract, multiply, divide, remainder,
  less, less_equal, greater, greater_equal, equal, not_equal,
  shift_left, shift_right, logical_not, logical_and, logical_or, logical_xor, select, random,
  floor, ceil, trunc, round,
  log, sqrt, exp, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh,
  integer_to_real, integer_to_boolean, boolean_to_integer,
  // Along segments.
  add_scan, multiply_scan, max_scan, min_scan, and_scan, or_scan, xor_scan,
  add_reduce, multiply_reduce, max_reduce, min_reduce, and_reduce, or_reduce, xor_reduce,
  rank_up, rank_down,
  // Moving elements.
  permute, bpermute, dpermute, fpermute, bfpermute, dfpermute, extract, replace, dist, index, pack,
  length, make_segdes, lengths,
  // Stack and control.
  copy, pop, cpop, make_pair, split_pair, constant,
  branch_if, branch_else, end_if, call, ret, exit,
  start_timer, stop_timer, seed,
  // Streams.
  read, write, open, close, read_file, write_file, read_characters, spawn,
};
// clang-format on

struct instruction_info {
  opcode code;
  std::string_view name;
  // Legal type words: i INT, f FLOAT, b BOOL, s SEGDES, c CHAR. Empty if the instruction has no
  // type word.
  std::string_view types;
  // Operands, deepest first: i, f, b, s as above; t stands for the stated type.
  std::string_view operands;
  std::string_view results;
};

// The table, in the order of `opcode`.
inline constexpr auto instructions = std::to_array<instruction_info>({
    {opcode::add, "+", "if", "tt", "t"},
    {opcode::subtract, "-", "if", "tt", "t"},
    {opcode::multiply, "*", "if", "tt", "t"},
    {opcode::divide, "/", "if", "tt", "t"},
    {opcode::remainder, "%", "", "ii", "i"},
    {opcode::less, "<", "if", "tt", "b"},
    {opcode::less_equal, "<=", "if", "tt", "b"},
    {opcode::greater, ">", "if", "tt", "b"},
    {opcode::greater_equal, ">=", "if", "tt", "b"},
    {opcode::equal, "=", "if", "tt", "b"},
    {opcode::not_equal, "!=", "if", "tt", "b"},
    {opcode::shift_left, "LSHIFT", "", "ii", "i"},
    {opcode::shift_right, "RSHIFT", "", "ii", "i"},
    {opcode::logical_not, "NOT", "ib", "t", "t"},
    {opcode::logical_and, "AND", "ib", "tt", "t"},
    {opcode::logical_or, "OR", "ib", "tt", "t"},
    {opcode::logical_xor, "XOR", "ib", "tt", "t"},
    {opcode::select, "SELECT", "ifb", "btt", "t"},
    {opcode::random, "RAND", "", "i", "i"},
    {opcode::floor, "FLOOR", "", "f", "i"},
    {opcode::ceil, "CEIL", "", "f", "i"},
    {opcode::trunc, "TRUNC", "", "f", "i"},
    {opcode::round, "ROUND", "", "f", "i"},
    {opcode::log, "LOG", "", "f", "f"},
    {opcode::sqrt, "SQRT", "", "f", "f"},
    {opcode::exp, "EXP", "", "f", "f"},
    {opcode::sin, "SIN", "", "f", "f"},
    {opcode::cos, "COS", "", "f", "f"},
    {opcode::tan, "TAN", "", "f", "f"},
    {opcode::asin, "ASIN", "", "f", "f"},
    {opcode::acos, "ACOS", "", "f", "f"},
    {opcode::atan, "ATAN", "", "f", "f"},
    {opcode::sinh, "SINH", "", "f", "f"},
    {opcode::cosh, "COSH", "", "f", "f"},
    {opcode::tanh, "TANH", "", "f", "f"},
    {opcode::integer_to_real, "I_TO_F", "", "i", "f"},
    {opcode::integer_to_boolean, "I_TO_B", "", "i", "b"},
    {opcode::boolean_to_integer, "B_TO_I", "", "b", "i"},
    {opcode::add_scan, "+_SCAN", "if", "ts", "t"},
    {opcode::multiply_scan, "*_SCAN", "if", "ts", "t"},
    {opcode::max_scan, "MAX_SCAN", "if", "ts", "t"},
    {opcode::min_scan, "MIN_SCAN", "if", "ts", "t"},
    {opcode::and_scan, "AND_SCAN", "ib", "ts", "t"},
    {opcode::or_scan, "OR_SCAN", "ib", "ts", "t"},
    {opcode::xor_scan, "XOR_SCAN", "ib", "ts", "t"},
    {opcode::add_reduce, "+_REDUCE", "if", "ts", "t"},
    {opcode::multiply_reduce, "*_REDUCE", "if", "ts", "t"},
    {opcode::max_reduce, "MAX_REDUCE", "if", "ts", "t"},
    {opcode::min_reduce, "MIN_REDUCE", "if", "ts", "t"},
    {opcode::and_reduce, "AND_REDUCE", "ib", "ts", "t"},
    {opcode::or_reduce, "OR_REDUCE", "ib", "ts", "t"},
    {opcode::xor_reduce, "XOR_REDUCE", "ib", "ts", "t"},
    {opcode::rank_up, "RANK_UP", "if", "ts", "i"},
    {opcode::rank_down, "RANK_DOWN", "if", "ts", "i"},
    {opcode::permute, "PERMUTE", "ifb", "tis", "t"},
    {opcode::bpermute, "BPERMUTE", "ifb", "tiss", "t"},
    {opcode::dpermute, "DPERMUTE", "ifb", "titss", "t"},
    {opcode::fpermute, "FPERMUTE", "ifb", "tibss", "t"},
    {opcode::bfpermute, "BFPERMUTE", "ifb", "tibss", "t"},
    {opcode::dfpermute, "DFPERMUTE", "ifb", "tibtss", "t"},
    {opcode::extract, "EXTRACT", "ifb", "tis", "t"},
    {opcode::replace, "REPLACE", "ifb", "tits", "t"},
    {opcode::dist, "DIST", "ifb", "ts", "t"},
    {opcode::index, "INDEX", "", "iis", "i"},
    {opcode::pack, "PACK", "ifb", "tbs", "ts"},
    {opcode::length, "LENGTH", "ifb", "t", "i"},
    {opcode::make_segdes, "MAKE_SEGDES", "", "i", "s"},
    {opcode::lengths, "LENGTHS", "", "s", "i"},
    {opcode::copy, "COPY", "", "", ""},
    {opcode::pop, "POP", "", "", ""},
    {opcode::cpop, "CPOP", "", "", ""},
    {opcode::make_pair, "PAIR", "", "", ""},
    {opcode::split_pair, "UNPAIR", "", "", ""},
    {opcode::constant, "CONST", "", "", ""},
    {opcode::branch_if, "IF", "", "b", ""},
    {opcode::branch_else, "ELSE", "", "", ""},
    {opcode::end_if, "ENDIF", "", "", ""},
    {opcode::call, "CALL", "", "", ""},
    {opcode::ret, "RET", "", "", ""},
    {opcode::exit, "EXIT", "", "", ""},
    {opcode::start_timer, "START_TIMER", "", "", ""},
    {opcode::stop_timer, "STOP_TIMER", "", "", "f"},
    {opcode::seed, "SRAND", "i", "i", "b"},
    {opcode::read, "READ", "ifbsc", "", "tib"},
    {opcode::write, "WRITE", "ifbsc", "t", "ib"},
    {opcode::open, "FOPEN", "", "ii", "iib"},
    {opcode::close, "FCLOSE", "", "i", "ib"},
    {opcode::read_file, "FREAD", "ifbsc", "i", "tib"},
    {opcode::write_file, "FWRITE", "ifbsc", "ti", "ib"},
    {opcode::read_characters, "FREAD_CHAR", "", "iii", "iiib"},
    {opcode::spawn, "SPAWN", "", "iiii", "iiiib"},
});

constexpr const instruction_info& info(opcode code) {
  return instructions[static_cast<std::size_t>(code)];
}

static_assert([] {
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (static_cast<std::size_t>(instructions[i].code) != i) return false;
  }
  return instructions.size() == static_cast<std::size_t>(opcode::spawn) + 1;
}());

// Returns the type that a letter of the table stands for in an instruction with this type word.
constexpr kind kind_of(char letter, kind stated) {
  switch (letter) {
    case 'i': return kind::integer;
    case 'f': return kind::real;
    case 'b': return kind::boolean;
    case 's': return kind::segdes;
    case 'c': return kind::character;
    default: return stated == kind::character ? kind::integer : stated;
  }
}

// Returns null if no instruction has this name.
const instruction_info* find_instruction(std::string_view name);

}  // namespace tutti::vcode
