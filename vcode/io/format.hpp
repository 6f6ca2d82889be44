// SPDX-License-Identifier: Apache-2.0
// Converts vectors to text: "( 1 2 3 )", "( T F )", "( 1.00000000000000e+00 )", "[ 2 1 ]".
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>

#include "vcode/language/kind.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {

// Appends all elements and a newline. A CHAR vector is appended as its bytes, without a newline.
void append_text(std::string& text, kind type, const void* elements, std::size_t count);
// Writes the same text without ever having all of it in memory. Returns whether `to` took all of
// it; an error remains in `to`, for std::ferror, and in errno.
bool write_text(std::FILE* to, kind type, const void* elements, std::size_t count);

// Returns the PAIR that a host's value points to. Throws std::invalid_argument for a null pointer.
const pair& pair_of(const std::shared_ptr<pair>& whole);

}  // namespace tutti::vcode
