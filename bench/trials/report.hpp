// SPDX-License-Identifier: Apache-2.0
// Results of idle and message trials as text.
#pragma once

#include <string>
#include <vector>

#include "bench/trials/suite.hpp"

namespace tutti::bench {

// A sentence for each trial that was not measured.
std::vector<std::string> sentences_of_failures(const trial_suite& s);

std::string json_lines(const trial_suite& s, cli::json machine);
std::string table(const trial_suite& s, const cli::json& machine);

}  // namespace tutti::bench
