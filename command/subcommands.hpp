// SPDX-License-Identifier: Apache-2.0
// Each subcommand adds itself to the program and leaves what is to be run in `action`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tutti::command {

// Returns the exit status; throws std::invalid_argument for wrong usage.
using action = std::function<int()>;

void add_info(CLI::App& program, action& chosen);
void add_vcode(CLI::App& program, action& chosen);
void add_graph(CLI::App& program, action& chosen);
void add_bench_barrier(CLI::App& bench, action& chosen);
void add_bench_idle(CLI::App& bench, action& chosen);
void add_bench_message(CLI::App& bench, action& chosen);
void add_bench_instruction(CLI::App& bench, action& chosen);
void add_bench_reduce(CLI::App& bench, action& chosen);
void add_bench_team(CLI::App& bench, action& chosen);
void add_bench_vcode(CLI::App& bench, action& chosen);

}  // namespace tutti::command
