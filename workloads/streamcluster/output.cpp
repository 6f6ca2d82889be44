// SPDX-License-Identifier: Apache-2.0
// Writes the centres as text.
#include "workloads/streamcluster/output.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tutti::streamcluster {

std::string to_text(const clustering& found) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "# {} centres of {} points of {} coordinates: position weight coordinates\n",
                 found.size(), found.counts.points, found.dimensions);
  for (std::size_t c = 0; c < found.size(); ++c) {
    fmt::format_to(out, "{} {}", found.positions[c], found.weights[c]);
    for (const float x : found.centre(c)) fmt::format_to(out, " {}", x);
    text.push_back('\n');
  }
  return text;
}

}  // namespace tutti::streamcluster
