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
  add_evaluate(program);
  add_optimize(program);
  add_rates(program);
  add_simulate(program);
  return program.run(argc, argv);
}
