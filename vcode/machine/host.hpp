// SPDX-License-Identifier: Apache-2.0
// Vectors between the caller's world and the machine.
#pragma once

#include "machine/context.hpp"

namespace tutti::vcode {

// Copies `count` elements (of all threads' own, equal copies).
value to_machine(context& c, kind type, const void* elements, std::size_t count);
value to_machine(context& c, const vector_value& v);
vector_value to_host(context& c, value v);

// Throws std::invalid_argument with what `entry` takes and what was given.
void require_inputs(const function& entry, const std::vector<vector_value>& inputs);

}  // namespace tutti::vcode
