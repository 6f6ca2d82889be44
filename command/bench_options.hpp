// SPDX-License-Identifier: Apache-2.0
// Options that all subcommands of `tutti bench` understand alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/placement.hpp"
#include "bench/harness/scenario.hpp"
#include "bench/harness/sweeps.hpp"
#include "cli/options.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::command {

inline constexpr std::uint32_t most_threads = 1024;

using optional_text = std::optional<std::string>;

// Each of these, once, ascending, from 2 on: 2, the cores, and these multiples of them.
std::vector<rank_t> default_counts(const std::vector<rank_t>& multiples_of_cores);

// A list of names, or one list of CPUs.
std::vector<bench::placement> parse_pins(const std::string& text);

// The contenders, and how many threads they have.
struct contender_options {
  optional_text threads;
  std::string algorithms;
  std::string waits = "adaptive";
  std::string peers = "all";
};

void add_contender_options(cli::command& app, contender_options& o);

// Where, for how long, and how it is told.
struct run_options {
  optional_text rounds, seconds;
  std::string pins = "core";
  std::string seed = "1";
  bool json = false;
};

void add_run_options(cli::command& app, run_options& o);

// What goes on beside and between the episodes, as the user gives it.
struct scenario_options {
  optional_text scenarios, gaps, imbalances, work, neighbours, backgrounds, each, quotas, phases,
      sessions;
  bool product = false;
};

// Which of the options make sense for a subcommand.
struct scenario_kinds {
  bool gaps = false;
  // skew, imbalance, work.
  bool waits = false;
  bool phases = false;
  bool quotas = true;
  // Nobody works in a gap: it is the time before a notification.
  bool notifies = false;
  // What is measured if nothing is asked for.
  const char* usual = "free";
};

// Returns the options.
std::vector<cli::option> add_scenario_options(cli::command& app, scenario_options& o,
                                              const scenario_kinds& kinds);

// A list of these two names: whether each is `yes`. Throws std::invalid_argument.
std::vector<bool> parse_either(const std::string& option, const std::string& list,
                               const std::string& no, const std::string& yes);

// Each of what was asked for by itself, or with --product in every combination; the usual ones when
// nothing was. Throws std::invalid_argument.
std::vector<bench::scenario> parse_scenarios(const scenario_options& o,
                                             const scenario_kinds& kinds);

bench::run_length parse_length(const run_options& o);

}  // namespace tutti::command
