// SPDX-License-Identifier: Apache-2.0
// The results of a run: JSON lines for programs, a table for people.
#pragma once

#include <string>

#include "bench/barrier/suite.hpp"
#include "bench/harness/machine.hpp"

namespace tutti::bench {

// One object a line: machine, floors, results, then what was not measured.
std::string json_lines(const barrier_plan& plan, const suite& s, ordered_json machine);

std::string table(const barrier_plan& plan, const suite& s, const ordered_json& machine);

}  // namespace tutti::bench
