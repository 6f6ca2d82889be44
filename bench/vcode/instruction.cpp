// SPDX-License-Identifier: Apache-2.0
// Straight-line programs, and the clock around them.
#include "bench/vcode/instruction.hpp"

#include <stdexcept>

#include "bench/harness/ticks.hpp"

namespace tutti::bench {
namespace {

vcode::program straight_line(nop_kind kind, std::uint64_t count) {
  std::string text = "FUNC MAIN";
  for (std::uint64_t i = 0; i < count; ++i)
    text += kind == nop_kind::stack ? " COPY 0 0" : " NOT BOOL";
  return vcode::compile(text + " RET", "nop");
}

}  // namespace

const char* name_of(nop_kind kind) { return kind == nop_kind::stack ? "stack" : "vector"; }

nop_kind parse_nop_kind(const std::string& name) {
  for (const nop_kind kind : {nop_kind::stack, nop_kind::vector}) {
    if (name == name_of(kind)) return kind;
  }
  throw std::invalid_argument("an instruction is stack or vector, not '" + name + "'");
}

nop_program::nop_program(nop_kind kind, std::uint64_t length)
    : code(straight_line(kind, length)), count(length) {
  if (kind == nop_kind::vector) inputs.emplace_back(std::vector<std::uint8_t>{0, 1});
}

double time_instruction(const nop_program& program, unsigned ranks,
                        vcode::spmd_run::rank_barrier& barrier,
                        const std::function<void(const std::function<void(unsigned)>&)>& fork) {
  vcode::run_options how;
  how.memory = 1 << 20;
  vcode::spmd_run run(program.code, program.inputs, how, ranks, barrier);
  std::uint64_t took = 0;
  fork([&](unsigned rank) {
    barrier.arrive_and_wait(rank);
    const std::uint64_t begin = ordered_ticks();
    run.interpret(rank);
    if (rank == 0) took = ordered_ticks() - begin;
  });
  return to_ns(took) / static_cast<double>(program.count);
}

}  // namespace tutti::bench
