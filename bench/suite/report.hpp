// SPDX-License-Identifier: Apache-2.0
// The results of a run: JSON lines for programs, a table for people.
#pragma once

#include <string>

#include "bench/harness/machine.hpp"
#include "bench/suite/suite.hpp"

namespace tutti::bench {

// One object a line: machine, floors, results, then what was not measured.
std::string json_lines(const plan& p, const suite& s, cli::json machine,
                       const std::vector<missing_peer>& missing);

std::string table(const plan& p, const suite& s, const cli::json& machine);

// A sentence for each series and each scenario that was not measured.
std::vector<std::string> sentences_of_failures(const suite& s);

}  // namespace tutti::bench
