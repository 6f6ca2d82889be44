// SPDX-License-Identifier: Apache-2.0
// Reads the JSON lines that programs write.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/json.hpp"

namespace tutti::test {

inline std::vector<cli::json> json_lines(const std::string& text) {
  std::vector<cli::json> parsed;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) parsed.push_back(cli::json::parse(line));
  return parsed;
}

// The lines of type "result" alone.
inline std::vector<cli::json> results_of(const std::string& text) {
  auto lines = json_lines(text);
  std::erase_if(lines, [](const auto& line) { return line.at("type") != "result"; });
  return lines;
}

}  // namespace tutti::test
