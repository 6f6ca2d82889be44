// SPDX-License-Identifier: Apache-2.0
#include "hardware/machine/sim/kernel_run.hpp"

#include <stdexcept>

#include "hardware/machine/sim/system.hpp"

namespace tutti::machine {

std::string run_kernel(const std::string& folder, const kernel_run& what) {
  settings s;
  s.cores = what.cores;
  s.sockets = what.sockets;
  s.command_line(what.line);
  system machine(folder + "/kernel.bin", s);
  const std::string name = "the kernel with '" + what.line + "' on " + std::to_string(what.cores) +
                           " cores in " + std::to_string(what.sockets) + " sockets";
  try {
    if (!machine.run_core(0, what.most_cycles))
      throw std::runtime_error("it does not end in " + std::to_string(what.most_cycles) +
                               " cycles\n" + machine.who_waits_for_what());
    if (machine.status(0) != 0)
      throw std::runtime_error("it ends with status " + std::to_string(machine.status(0)));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(name + ": " + error.what() + "\n" + machine.console());
  }
  return machine.console();
}

}  // namespace tutti::machine
