// SPDX-License-Identifier: Apache-2.0
// The lines of --json that carry measurements. All programs write them here, checked against the
// schema that the report reads too, result_line.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tutti::cli {

// One line of type "result" with these keys in this order; "type" and, where it is missing, "unit"
// are added. Throws std::logic_error if the schema does not know a key, misses one, or wants
// another type: the program is wrong.
std::string result_line(const nlohmann::ordered_json& keys);

// One line of type "skipped": something was not measured, and why.
std::string skipped_line(const nlohmann::ordered_json& keys, const std::string& reason);

}  // namespace tutti::cli
