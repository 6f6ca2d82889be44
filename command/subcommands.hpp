// SPDX-License-Identifier: Apache-2.0
// Each subcommand adds itself to the program, with what it runs.
#pragma once

#include "cli/options.hpp"

namespace tutti::command {

void add_info(cli::command& program);
void add_vcode(cli::command& program);
// Only where libbpf and clang were there when tutti was built.
void add_network(cli::command& program);
// status.
void add_network_status(cli::command& network);
// discover.
void add_network_discover(cli::command& network);
// Only where toml++ was there when tutti was built.
void add_sim(cli::command& program);
void add_graph(cli::command& program);
void add_kernel(cli::command& program);
void add_run(cli::command& program);
// barrier, team, reduce.
void add_bench_suites(cli::command& bench);
// event.
void add_bench_events(cli::command& bench);
// idle, message.
void add_bench_trials(cli::command& bench);
void add_bench_instruction(cli::command& bench);
void add_bench_vcode(cli::command& bench);

}  // namespace tutti::command
