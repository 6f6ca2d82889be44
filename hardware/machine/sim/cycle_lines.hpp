// SPDX-License-Identifier: Apache-2.0
// What the programs share that measure the machine: a size, and a result line in cycles.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>

#include "cli/result_line.hpp"
#include "hardware/machine/sim/checked_run.hpp"

namespace tutti::machine {

// `cores` are what programs take for cores: hardware threads, of which some may share a core.
struct size {
  unsigned cores, sockets, threads = 1;
};

// The number that a text is. Throws std::invalid_argument if it is none, or greater than `most`.
inline unsigned number_up_to(const std::string& text, unsigned most) {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, wrong] = std::from_chars(text.data(), end, value);
  if (wrong != std::errc() || at != end || value > most)
    throw std::invalid_argument(text + ": not a number up to " + std::to_string(most));
  return value;
}
// The size with so many cores in so many sockets. Throws std::invalid_argument if there is none.
inline size size_of(const char* cores, const char* sockets) {
  const size on{number_up_to(cores, MOST_CORES), number_up_to(sockets, MOST_CORES)};
  if (on.sockets == 0 || on.cores == 0 || on.cores % on.sockets != 0)
    throw std::invalid_argument(std::to_string(on.cores) + " cores cannot be the same in " +
                                std::to_string(on.sockets) + " sockets");
  return on;
}

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
