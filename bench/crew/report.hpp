// SPDX-License-Identifier: Apache-2.0
// The results of a run: JSON lines for programs, a table for people.
#pragma once

#include <string>

#include "bench/crew/suite.hpp"
#include "bench/harness/machine.hpp"

namespace tutti::bench {

// One object a line: machine, floors, results, then what was not measured.
std::string json_lines(const crew_plan& plan, const crew_suite& s, ordered_json machine,
                       const std::vector<missing_crew>& missing);

std::string table(const crew_plan& plan, const crew_suite& s, const ordered_json& machine);

// "tutti flags, adaptive"
std::string name_of(const crew_provider& who);

}  // namespace tutti::bench
