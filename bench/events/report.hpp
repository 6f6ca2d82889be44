// SPDX-License-Identifier: Apache-2.0
// Results of the event bench as text.
#pragma once

#include <string>
#include <vector>

#include "bench/events/suite.hpp"
#include "cli/json.hpp"

namespace tutti::bench {

// The machine's line, and the sentence that says what is measured, of all reports of this bench.
std::string heading_line(const event_suite& s, cli::json machine);
std::string clock_sentence(const event_suite& s);

// A sentence for each series that was not measured, except those that these cores leave out.
std::vector<std::string> sentences_of_failures(const event_suite& s);

std::string json_lines(const event_suite& s, cli::json machine);
std::string table(const event_suite& s, const cli::json& machine);

}  // namespace tutti::bench
