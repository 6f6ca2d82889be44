// SPDX-License-Identifier: Apache-2.0
// Keeps the types of the stack, so that every instruction finds operands.
#include "vcode/language/random_chain.hpp"

#include <fmt/format.h>

#include <random>
#include <vector>

#include "vcode/language/instructions.hpp"

namespace tutti::vcode {
namespace {

// Instructions that may fail, that have a state, or that take as long as a call of the C library
// are left out.
bool is_usable(const instruction_info& i) {
  if (i.code >= opcode::log && i.code <= opcode::tanh && i.code != opcode::sqrt) return false;
  return i.code <= opcode::boolean_to_integer && i.code != opcode::random &&
         i.code != opcode::remainder;
}

}  // namespace

std::string random_chain(std::uint32_t seed, std::int32_t length, int steps) {
  std::mt19937 draw(seed);
  const auto below = [&draw](std::size_t n) { return draw() % n; };
  std::string text = "FUNC MAIN\n";
  std::vector<kind> stack;
  const auto index = [&](int start, int stride) {
    text += fmt::format("CONST INT {} CONST INT {} CONST SEGDES {} INDEX\n", start, stride, length);
    stack.push_back(kind::integer);
  };
  index(1, 3);
  index(-length, 2);
  text += "COPY 1 0 I_TO_F\nCOPY 1 2 COPY 1 2 < INT\n";
  stack.push_back(kind::real);
  stack.push_back(kind::boolean);
  for (int done = 0; done < steps;) {
    const instruction_info& drawn = instructions[below(instructions.size())];
    if (!is_usable(drawn)) continue;
    kind stated = kind::none;
    if (!drawn.types.empty()) stated = kind_of(drawn.types[below(drawn.types.size())], stated);
    if (drawn.code == opcode::divide && stated == kind::integer) continue;
    std::size_t pushed = 0;
    for (const char letter : drawn.operands) {
      const kind wanted = kind_of(letter, stated);
      // The most recent result of this type, or with the chance of a third an older one.
      std::size_t found = stack.size();
      for (std::size_t at = stack.size(); at-- > 0;) {
        if (stack[at] != wanted) continue;
        found = at;
        if (below(3) != 0) break;
      }
      text += fmt::format("COPY 1 {} ", stack.size() - 1 - found + pushed);
      ++pushed;
    }
    text += std::string(drawn.name);
    if (stated != kind::none) text += fmt::format(" {}", name_of(stated));
    text += '\n';
    stack.push_back(kind_of(drawn.results[0], stated));
    ++done;
  }
  const kind last = stack.back();
  const char* const reduce = last == kind::boolean ? "XOR_REDUCE" : "+_REDUCE";
  text += fmt::format("CONST SEGDES {} {} {}\nPOP {} 1\nRET\n", length, reduce, name_of(last),
                      stack.size() - 1);
  return text;
}

}  // namespace tutti::vcode
