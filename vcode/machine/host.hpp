// SPDX-License-Identifier: Apache-2.0
// Converts between the caller's vectors and the machine's values.
#pragma once

#include <cstdio>

#include "vcode/machine/context.hpp"

namespace tutti::vcode {

// Copies `count` elements. In the SPMD engine every thread calls it with equal elements.
value to_machine(context& c, kind type, const void* elements, std::size_t count);
value to_machine(context& c, const vector_value& v);
vector_value to_host(context& c, value v);
// Writes what to_text() returns for it, piece by piece. Errors remain in `to`, for std::ferror.
void print(context& c, value v, std::FILE* to);

// Throws std::invalid_argument, naming what `entry` takes and what was given.
void require_inputs(const function& entry, const std::vector<vector_value>& inputs);

}  // namespace tutti::vcode
