// SPDX-License-Identifier: Apache-2.0
// Reads the description of a machine, a TOML file. docs/simulation.md lists its keys.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/machine.hpp"

namespace tutti::sim {

// Numbers that replace those of a file, by their keys, such as "line.hold".
using settings = std::map<std::string, double>;

// The description `text` of the file `path`. Throws std::invalid_argument for what is wrong, with
// the file, the line and what was expected.
machine parse_machine(const std::string& text, const std::string& path, const settings& with = {});

// The numbers of a description by their keys, in the unit of the file; numbers in lists are left
// out.
settings numbers_of(const std::string& name_or_file);
// The keys of those that are counts, and so whole numbers.
std::set<std::string> counts_of(const std::string& name_or_file);

// A machine that tutti brings along, by its name, or else the file of that name. Throws
// std::invalid_argument if there is neither.
machine find_machine(const std::string& name_or_file, const settings& with = {});

// The names of the machines that tutti brings along.
std::vector<std::string> names_of_machines();

// The description of one of these, with the source of each number, or else the text of the file.
// Throws std::invalid_argument if there is neither.
std::string description_of(const std::string& name_or_file);

// The text of a file. If there is none, throws std::invalid_argument: `path` is no `kind` that
// tutti brings along either, and these are their names.
std::string text_of_file(const std::string& path, const std::string& kind,
                         const std::vector<std::string>& names);

// Throws std::invalid_argument for a folder or a device, which may have no end.
void refuse_other_than_file(const std::string& path);

}  // namespace tutti::sim
