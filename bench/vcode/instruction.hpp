// SPDX-License-Identifier: Apache-2.0
// What an instruction costs in engine spmd, where a barrier ends each: figure 3 of the paper on
// this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vcode/vcode.hpp"

namespace tutti::bench {

// stack: COPY 0 0, which does nothing at all. vector: NOT on two elements, in place.
enum class nop_kind { stack, vector };
const char* name_of(nop_kind kind);
nop_kind parse_nop_kind(const std::string& name);  // throws std::invalid_argument

// Straight-line code with so many of them, and what it takes from the stack.
struct nop_program {
  nop_program(nop_kind kind, std::uint64_t length);
  vcode::program code;
  std::vector<vcode::vector_value> inputs;
  std::uint64_t count;
};

// Runs `program` once: `ranks` threads that `fork` makes or has, each of which meets the others,
// then interprets. The nanoseconds of an instruction, by rank 0's clock.
double time_instruction(const nop_program& program, unsigned ranks,
                        vcode::spmd_run::rank_barrier& barrier,
                        const std::function<void(const std::function<void(unsigned)>&)>& fork);

}  // namespace tutti::bench
