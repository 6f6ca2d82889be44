// SPDX-License-Identifier: Apache-2.0
// Vectors as text: "( 1 2 3 )", "( T F )", "( 1.00000000000000e+00 )", "[ 2 1 ]".
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "language/kind.hpp"

namespace tutti::vcode {

// Appends all of it with the newline; a CHAR vector is its bytes without one.
void append_text(std::string& text, kind type, const void* elements, std::size_t count);

}  // namespace tutti::vcode
