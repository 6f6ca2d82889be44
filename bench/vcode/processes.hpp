// SPDX-License-Identifier: Apache-2.0
// `tutti bench vcode --processes`: whole processes, start and threads included, in turn: the plain
// interpreter, `tutti vcode` with one thread, with two and with as many as pay; and, for some
// programs, a fused C++ loop and NumPy, which tell the time of their work without their start. Then
// the same beside a busy process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::bench {

struct process_plan {
  // Paths of programs.
  std::vector<std::string> files;
  std::size_t rounds = 7;
  // Seconds for all programs, each an equal share and at least three rounds; 0: `rounds` counts.
  double seconds = 0;
  // The number of processes that compute without end during the second half of each round.
  unsigned busy = 1;
  // The interpreter that has NumPy.
  std::string python = "python3";
  // Only the form of the tables: nothing is measured.
  bool is_form = false;
};

// Measures and returns the tables. Says on stderr, before it begins, if the interpreter cannot be
// started or has no NumPy, and leaves its column empty. Throws std::runtime_error if another
// process cannot be started.
std::string measure_processes(const process_plan& plan);

}  // namespace tutti::bench
