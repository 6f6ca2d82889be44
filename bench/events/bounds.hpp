// SPDX-License-Identifier: Apache-2.0
// What tutti's events are meant to take at most, and what they took: `tutti bench event --bounds`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/events/suite.hpp"
#include "cli/json.hpp"

namespace tutti::bench {

// A suite that measures what the bounds compare, and nothing else. The bounds hold for two free
// cores: without a placement of its own it takes the first two. Throws std::runtime_error if there
// are none.
event_plan bounds_plan(placement where, const run_length& length);

struct event_bound {
  // What is measured, and what it may take.
  std::string what;
  std::string limit;
  // Medians over the sweeps. The share is that of the limit of the same sweep.
  double ns = 0;
  double limit_ns = 0;
  double share = 0;
  std::size_t sweeps = 0;

  bool is_kept() const { return sweeps > 0 && share <= 1; }
};

// The bounds of a suite with that plan, the greatest share first.
std::vector<event_bound> bounds_of(const event_suite& s);

// The bounds and the floors of the run, as lines for programs and as a table for people.
std::string bound_lines(const event_suite& s, const cli::json& machine);
std::string bounds_table(const event_suite& s, const cli::json& machine);

}  // namespace tutti::bench
