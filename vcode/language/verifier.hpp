// SPDX-License-Identifier: Apache-2.0
// Infers what every function takes from the stack and leaves on it, before the program runs.
#pragma once

#include "vcode/language/program.hpp"

namespace tutti::vcode {

// Computes `effect` and `growth` of every function. Throws source_error.
//
// Each function is typed separately: values that it takes from below become its inputs, with a type
// or with a type variable. For recursive functions the verifier starts from "never returns" and
// repeats until nothing changes. It does not type code that cannot be reached (after EXIT, or after
// a call that never returns); such code never runs.
void verify(program_data& data);

// Returns the types as text, for example "INT SEGDES".
std::string to_text(const std::vector<type_term>& types);

}  // namespace tutti::vcode
