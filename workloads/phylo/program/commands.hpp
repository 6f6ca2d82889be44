// SPDX-License-Identifier: Apache-2.0
// The subcommands of tutti-phylo. Each adds its options and what it runs.
#pragma once

#include "cli/options.hpp"

namespace tutti::phylo::program {

void add_evaluate(cli::command& app);
void add_optimize(cli::command& app);
void add_rates(cli::command& app);
void add_simulate(cli::command& app);

}  // namespace tutti::phylo::program
