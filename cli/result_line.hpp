// SPDX-License-Identifier: Apache-2.0
// The lines of --json that carry measurements. All programs write them here, checked against the
// schema that the report reads too, result_line.json.
#pragma once

#include <string>

#include "cli/json.hpp"

namespace tutti::cli {

// One line of type "result" with these keys in this order; "type" and, where it is missing, "unit"
// are added. Throws std::logic_error if the schema does not know a key, misses one, or wants
// another type: the program is wrong.
std::string result_line(const json& keys);

// One line of type "skipped": something was not measured, and why.
std::string skipped_line(const json& keys, const std::string& reason);

}  // namespace tutti::cli
