// SPDX-License-Identifier: Apache-2.0
// The results of a run: JSON lines for programs, a table for people.
#pragma once

#include <string>

#include "bench/harness/machine.hpp"
#include "workloads/synthetic/program/sweep.hpp"

namespace tutti::synthetic {

// One object per line: the machine, the results, then what was not measured.
std::string json_lines(const plan& p, const sweeps& s, cli::json machine);

std::string table(const plan& p, const sweeps& s, const cli::json& machine);

}  // namespace tutti::synthetic
