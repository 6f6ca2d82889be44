// SPDX-License-Identifier: Apache-2.0
// A VCODE program whose threads all interpret and meet in a barrier after each instruction, as in
// Hetland et al. 2019: the program really runs, and its threads, barriers and work take simulated
// time.
#pragma once

#include <cstdint>
#include <string>

#include "sim/measure.hpp"
#include "vcode/vcode.hpp"

namespace tutti::sim {

// How a thread interprets. The times are ns besides its barriers: from one barrier to the next,
// which is an instruction or, of few, a part of one; and for an element. Every thread interprets
// every instruction; the threads divide the elements of a vector.
struct interpreting {
  double instruction_ns = 20;
  double element_ns = 1;
  // The run fails before the instruction after this many; 0 means no limit.
  std::uint64_t most_instructions = 0;
};

struct vector_run {
  // ns from the start of the first thread to the end of the last.
  double ns = 0;
  // The share of the threads' time that they spent in barriers.
  double in_barriers = 0;
  vcode::run_statistics done;
  // What the program leaves on its stack, as text.
  std::string result;
};

// Runs the program on one thread, without a barrier.
vector_run run_alone(const vcode::program& code, const interpreting& how);

// Takes the threads, the seed and the polls from the plan. Throws vcode::run_error, `stuck`, and
// std::invalid_argument if the contender is not a barrier of all threads.
vector_run run_program(const machine& m, const contender& barrier, const run_plan& plan,
                       const vcode::program& code, const interpreting& how);

}  // namespace tutti::sim
