// SPDX-License-Identifier: Apache-2.0
// Infers what every function takes from the stack and leaves on it, before anything runs.
#pragma once

#include "language/program.hpp"

namespace tutti::vcode {

// Fills in `effect` and `growth` of every function. Throws source_error.
//
// Each function is typed by itself: what it takes from below becomes its inputs, of a type or of any type.
// Recursion starts from "never returns" and repeats until nothing changes. Code that cannot be reached
// (after EXIT, after a call that never returns) is not typed, and never runs.
void verify(program_data& data);

// "INT SEGDES"
std::string to_text(const std::vector<type_term>& types);

}  // namespace tutti::vcode
