// SPDX-License-Identifier: Apache-2.0
// The program `tutti` and its subcommands.
#include "cli/options.hpp"
#include "command/subcommands.hpp"

int main(int argc, char** argv) {
  using namespace tutti::command;
  tutti::cli::program program("Synchronization from core to cluster", "tutti");
  program.require_subcommand();
  action chosen;
  add_info(program, chosen);
  add_vcode(program, chosen);
  add_graph(program, chosen);
#ifdef TUTTI_HAVE_NETWORK
  add_network(program, chosen);
#endif
#ifdef TUTTI_HAVE_SIM
  add_sim(program, chosen);
#endif
  add_run(program, chosen);
  add_kernel(program, chosen);
  tutti::cli::command bench =
      program.add_subcommand("bench", "Measure tutti and its peers side by side");
  bench.require_subcommand();
  add_bench_suites(bench, chosen);
  add_bench_instruction(bench, chosen);
  add_bench_vcode(bench, chosen);
  add_bench_trials(bench, chosen);
  add_bench_events(bench, chosen);
  return program.run(argc, argv, [&chosen] { return chosen(); });
}
