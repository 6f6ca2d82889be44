// SPDX-License-Identifier: Apache-2.0
// One run of software/bench.cpp on the system, checked: what the measurement prints and the tests vary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system.hpp"

namespace tutti::isa {

struct competitor {
  const char* name;
  const char* provider;
  std::uint32_t kind;  // as software/bench.cpp numbers them
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
  unsigned latency = 10, distance = 0;  // cycles: to the memory and back; to the unit
  bool near = false;                    // bank c is beside core c
  bool posted = true;                   // stores do not wait
  std::uint32_t episodes = 24;
  std::uint32_t points = 128;  // of the stencil; the longest delay of random_lengths
  std::uint32_t seed = 0;      // of random_lengths
};

struct figures {
  double min = 0, median = 0, p99 = 0;  // cycles
  std::size_t samples = 0;
};

// "tutti central, late, 4 cores, latency 20, uniform".
std::string describe(const competitor& who, const bench_run& what);

// Cycles of an episode (of `late`: from the last arrival to the last departure). Throws std::runtime_error that begins
// with describe() if the program does not end or fails, faults, lets somebody go early, or computes something wrong.
figures run_bench(const std::string& image, const competitor& who, const bench_run& what);

}  // namespace tutti::isa
