// SPDX-License-Identifier: Apache-2.0
// Each subcommand adds itself to the program and leaves what is to be run in `action`.
#pragma once

#include <functional>

#include "cli/options.hpp"

namespace tutti::command {

// Returns the exit status; throws std::invalid_argument for wrong usage.
using action = std::function<int()>;

void add_info(cli::command& program, action& chosen);
void add_vcode(cli::command& program, action& chosen);
// Only where libbpf and clang were there when tutti was built.
void add_network(cli::command& program, action& chosen);
// Only where toml++ was there when tutti was built.
void add_sim(cli::command& program, action& chosen);
void add_graph(cli::command& program, action& chosen);
void add_kernel(cli::command& program, action& chosen);
void add_run(cli::command& program, action& chosen);
// barrier, team, reduce.
void add_bench_suites(cli::command& bench, action& chosen);
// event.
void add_bench_events(cli::command& bench, action& chosen);
// idle, message.
void add_bench_trials(cli::command& bench, action& chosen);
void add_bench_instruction(cli::command& bench, action& chosen);
void add_bench_vcode(cli::command& bench, action& chosen);

}  // namespace tutti::command
