// SPDX-License-Identifier: Apache-2.0
// The floors of a run as text.
#pragma once

#include <string>

#include "bench/floors/floors.hpp"

namespace tutti::bench {

// A line of --json for each.
std::string floor_lines(const floor_suite& floors);

std::string floors_table(const floor_suite& floors);

}  // namespace tutti::bench
