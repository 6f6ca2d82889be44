// SPDX-License-Identifier: Apache-2.0
// Runs of the kernel of kernel/ on the machine.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::machine {

struct kernel_run {
  unsigned cores = 2, sockets = 1;
  // The program and its words: "program=bench trials=5".
  std::string line;
  std::uint64_t most_cycles = 400'000'000;
};

// Returns what the program printed. Throws std::runtime_error, with a sentence that names the run,
// if it does not end, or ends with a failed check or a panic. `folder` has the images.
std::string run_kernel(const std::string& folder, const kernel_run& what);

}  // namespace tutti::machine
