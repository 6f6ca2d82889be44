// SPDX-License-Identifier: Apache-2.0
// Options that all subcommands of `tutti bench` understand alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/placement.hpp"
#include "harness/scenario.hpp"
#include "harness/sweeps.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::command {

inline constexpr std::uint32_t most_threads = 1024;

using optional_text = std::optional<std::string>;

// Each of these, once, ascending, from 2 on: 2, the cores, and these multiples of them.
std::vector<rank_t> default_counts(const std::vector<rank_t>& multiples_of_cores);

// A list of names, or one list of CPUs.
std::vector<bench::placement> parse_pins(const std::string& text);

// Adds it unless it is there. Throws std::invalid_argument.
void add_scenario(std::vector<bench::scenario>& scenarios, const std::string& name);

// --scenario and --neighbour together; may be none.
std::vector<bench::scenario> parse_scenarios(const optional_text& scenarios,
                                             const optional_text& neighbours);

bench::run_length parse_length(const optional_text& rounds, const optional_text& seconds,
                               const std::string& seed);

}  // namespace tutti::command
