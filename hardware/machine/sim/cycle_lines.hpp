// SPDX-License-Identifier: Apache-2.0
// What the programs share that measure the machine: a size, and a result line in cycles.
#pragma once

#include <cmath>
#include <cstdio>

#include "cli/result_line.hpp"
#include "hardware/machine/sim/checked_run.hpp"

namespace tutti::machine {

// `cores` are what programs take for cores: hardware threads, of which some may share a core.
struct size {
  unsigned cores, sockets, threads = 1;
};

// Prints a line of these keys and figures, with one decimal.
inline void print(cli::json keys, const size& on, const figures& f) {
  const auto one_decimal = [](double cycles) { return std::round(cycles * 10) / 10; };
  keys["threads"] = on.cores;
  keys["cores"] = on.cores / on.threads;
  keys["sockets"] = on.sockets;
  keys["unit"] = "cycles";
  keys["min"] = one_decimal(f.min);
  keys["median"] = one_decimal(f.median);
  keys["max"] = one_decimal(f.max);
  keys["samples"] = f.samples;
  std::fputs(cli::result_line(keys).c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace tutti::machine
