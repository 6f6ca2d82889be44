// SPDX-License-Identifier: Apache-2.0
// The interpreter that tutti's is measured against: one thread, one instruction at a time, a plain
// loop over the elements of each, compiled at -O2 for the baseline processor. It fuses nothing,
// defers nothing and checks nothing. It overwrites an operand that nobody else refers to, as the
// original interpreter does. Of the instructions
// for streams it has WRITE only.
#pragma once

#include <cstdio>

#include "vcode/vcode.hpp"

namespace tutti::bench {

// Runs a program with an empty stack and prints what it leaves. STOP_TIMER pushes 0.0. Throws
// std::runtime_error for an instruction that it does not have.
void run_plainly(const vcode::program& code, std::FILE* to);

}  // namespace tutti::bench
