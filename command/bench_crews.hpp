// SPDX-License-Identifier: Apache-2.0
// What `tutti bench team` and `tutti bench reduce` have in common: they differ in what is repeated and by whom.
#pragma once

#include <string>
#include <vector>

#include "bench/crew/plan.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {

struct crew_benchmark {
  std::string subcommand;   // team, reduce
  std::string description;  // of the subcommand
  std::string benchmark;    // in the lines of --json
  std::string algorithms;   // the default of --algorithms
  std::vector<bench::episode_kind> kinds;
  bool has_loops = false;  // the kind axpy, too, if it is asked for
  std::vector<bench::crew_provider> (*peers)();
  std::vector<bench::missing_crew> (*missing)();
};

void add_bench_crews(CLI::App& bench, action& chosen, const crew_benchmark& what);

}  // namespace tutti::command
