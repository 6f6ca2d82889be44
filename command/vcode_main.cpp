// SPDX-License-Identifier: Apache-2.0
// A program with the subcommand `vcode` alone: `tutti` starts it for `tutti vcode`, because it
// needs few shared libraries and so starts in a fraction of the time of the other subcommands.
#include "cli/options.hpp"
#include "command/subcommands.hpp"

int main(int argc, char** argv) {
  using namespace tutti::command;
  tutti::cli::program program("Synchronisation from core to cluster", "tutti");
  program.require_subcommand();
  add_vcode(program);
  return program.run(argc, argv);
}
