// SPDX-License-Identifier: Apache-2.0
// The program `tutti-phylo` and its subcommands.
#include "cli/options.hpp"
#include "workloads/phylo/program/commands.hpp"

int main(int argc, char** argv) {
  using namespace tutti::phylo::program;
  tutti::cli::program program(
      "Phylogenetic likelihood: a program of thousands of small parallel regions per second",
      "tutti-phylo");
  program.require_subcommand();
  action chosen;
  add_evaluate(program, chosen);
  add_optimize(program, chosen);
  add_rates(program, chosen);
  add_simulate(program, chosen);
  return program.run(argc, argv, [&chosen] {
    chosen();
    return 0;
  });
}
