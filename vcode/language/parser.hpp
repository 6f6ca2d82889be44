// SPDX-License-Identifier: Apache-2.0
// Text to flat code.
#pragma once

#include <string>
#include <string_view>

#include "language/program.hpp"

namespace tutti::vcode {

// Throws source_error. Stack effects are not known yet: see verifier.hpp.
program_data parse(std::string_view text, std::string file);

}  // namespace tutti::vcode
