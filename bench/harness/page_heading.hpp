// SPDX-License-Identifier: Apache-2.0
// The line above a measured table of the documentation.
#pragma once

#include <string>

#include "cli/json.hpp"

namespace tutti::bench {

// The machine, how much of it others used ("foreign_load"), and the commit.
std::string page_heading(const cli::json& machine);

}  // namespace tutti::bench
