// SPDX-License-Identifier: Apache-2.0
// One checked run of software/bench.cpp on the system; measure.cpp prints its results, and the
// tests vary it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system.hpp"

namespace tutti::isa {

struct competitor {
  const char* name;
  const char* provider;
  // Numbered as in software/bench.cpp.
  std::uint32_t kind;
};
inline constexpr std::uint32_t no_barrier = 0, instruction = 1;
inline constexpr competitor competitors[] = {
    {"barwait", "isa", instruction},  {"central", "software", 2},  {"tournament", "software", 3},
    {"dissemination", "software", 4}, {"central", "tutti", 5},     {"tournament", "tutti", 6},
    {"dissemination", "tutti", 7},    {"none", "isa", no_barrier},
};

enum class bench_program : std::uint32_t { loop, late, stencil, random_lengths };

struct bench_run {
  bench_program program = bench_program::loop;
  unsigned cores = 2;
  // Cycles to the memory and back, and to the unit.
  unsigned latency = 10, distance = 0;
  // Bank c is beside core c.
  bool near = false;
  // Stores do not wait.
  bool posted = true;
  std::uint32_t episodes = 24;
  // Cells of the stencil, or the longest delay of random_lengths.
  std::uint32_t points = 128;
  // Seed of random_lengths.
  std::uint32_t seed = 0;
};

struct figures {
  // Cycles.
  double min = 0, median = 0, p99 = 0;
  std::size_t samples = 0;
};

// Returns, for example, "tutti central, late, 4 cores, latency 20, uniform".
std::string describe(const competitor& who, const bench_run& what);

// Returns the cycles of an episode (for `late`: from the last arrival to the last departure).
// Throws std::runtime_error, whose message begins with describe(), if the program does not end,
// fails, faults, releases a core early, or computes a wrong result.
figures run_bench(const std::string& image, const competitor& who, const bench_run& what);

}  // namespace tutti::isa
