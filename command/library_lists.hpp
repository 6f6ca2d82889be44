// SPDX-License-Identifier: Apache-2.0
// What `tutti info` prints of the lists of wait policies, detectors, reductions and algorithms.
#pragma once

#include <string>

#include "cli/json.hpp"

namespace tutti::command {

// Adds an array for each list.
void add_lists(cli::json& to);

void print_lists();

// Prints a list as a table of the documentation. Throws std::invalid_argument for another name than
// names_of_markdown_tables() has.
void print_markdown(const std::string& name);
std::string names_of_markdown_tables();

}  // namespace tutti::command
