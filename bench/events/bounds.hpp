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
// cores: the placement `core` becomes the first two. Throws std::runtime_error if the machine has
// only one, and std::invalid_argument for a placement on another number of cores.
event_plan bounds_plan(placement where, const run_length& length);

struct event_bound {
  // What is measured, and what it may take.
  std::string what;
  std::string limit;
  // If not empty, this is what a bare word takes, without tutti, of the limit of that bound: the
  // least that it can take. If the share is above 1, receivers that poll cannot keep the bound.
  std::string floor_of = {};
  // Medians over the sweeps. The share is that of the limit of the same sweep.
  double ns = 0;
  double limit_ns = 0;
  double share = 0;
  std::size_t sweeps = 0;

  bool is_kept() const { return sweeps > 0 && share <= 1; }
};

// The bounds of a suite with that plan, the greatest share first, and then the floors of some.
std::vector<event_bound> bounds_of(const event_suite& s);

// The bounds and the floors of the run, as lines for programs and as a table for people.
std::string bound_lines(const event_suite& s, const cli::json& machine);
std::string bounds_table(const event_suite& s, const cli::json& machine);

}  // namespace tutti::bench
