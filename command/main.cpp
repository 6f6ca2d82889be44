// SPDX-License-Identifier: Apache-2.0
// The program `tutti` and its subcommands.
#include "cli/options.hpp"
#include "command/subcommands.hpp"

int main(int argc, char** argv) {
  using namespace tutti::command;
  tutti::cli::program program("Synchronisation from core to cluster", "tutti");
  program.require_subcommand();
  add_info(program);
  add_vcode(program);
  add_graph(program);
#ifdef TUTTI_HAVE_NETWORK
  add_network(program);
#endif
#ifdef TUTTI_HAVE_SIM
  add_sim(program);
#endif
  add_run(program);
  add_kernel(program);
  tutti::cli::command bench =
      program.add_subcommand("bench", "Measure tutti and its peers side by side");
  bench.require_subcommand();
  add_bench_suites(bench);
  add_bench_instruction(bench);
  add_bench_vcode(bench);
  add_bench_trials(bench);
  add_bench_events(bench);
  return program.run(argc, argv);
}
