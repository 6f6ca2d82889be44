// SPDX-License-Identifier: Apache-2.0
// The subcommands of tutti-phylo. Each adds its options and sets the action that runs if it is
// chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tutti::phylo::program {

using action = std::function<void()>;

void add_evaluate(CLI::App& app, action& chosen);
void add_optimize(CLI::App& app, action& chosen);
void add_rates(CLI::App& app, action& chosen);
void add_simulate(CLI::App& app, action& chosen);

}  // namespace tutti::phylo::program
