// SPDX-License-Identifier: Apache-2.0
// What `tutti bench idle` and `tutti bench message` have in common: options into a plan, the plan into lines or a table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/idle/trial.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {

struct idle_benchmark {
  const char* subcommand;
  const char* description;
  const char* detectors;  // the default
  // For a number of threads.
  std::function<std::vector<bench::trial>(rank_t, const std::vector<std::string>& detectors)> own;
  std::function<std::vector<bench::trial>(rank_t)> peers;
  // Those whose participants may be fibers.
  std::function<std::vector<bench::trial>(rank_t)> fiber_peers;
  // What the program for processes measures (bench/mpi/): its benchmarks.
  std::vector<std::string> across_processes;
};

void add_bench_idle(CLI::App& bench, action& chosen, const idle_benchmark& what);

}  // namespace tutti::command
