// SPDX-License-Identifier: Apache-2.0
// Parses text to flat code.
#pragma once

#include <string>
#include <string_view>

#include "vcode/language/program.hpp"

namespace tutti::vcode {

// Throws source_error. Does not compute stack effects; verifier.hpp does.
program_data parse(std::string_view text, std::string file);

}  // namespace tutti::vcode
