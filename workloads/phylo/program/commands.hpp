// SPDX-License-Identifier: Apache-2.0
// The subcommands of tutti-phylo. Each adds its options and sets the action that runs if it is
// chosen.
#pragma once

#include <functional>

#include "cli/options.hpp"

namespace tutti::phylo::program {

using action = std::function<void()>;

void add_evaluate(cli::command& app, action& chosen);
void add_optimize(cli::command& app, action& chosen);
void add_rates(cli::command& app, action& chosen);
void add_simulate(cli::command& app, action& chosen);

}  // namespace tutti::phylo::program
