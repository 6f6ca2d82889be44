// SPDX-License-Identifier: Apache-2.0
// A VCODE program from a file.
#pragma once

#include <string>

#include "vcode/vcode.hpp"

namespace tutti::command {

// Compiles a program that takes no input and prints the compiler's warnings on standard error.
// Throws std::invalid_argument if the file cannot be read, and vcode::source_error.
vcode::program read_vcode(const std::string& file);

}  // namespace tutti::command
