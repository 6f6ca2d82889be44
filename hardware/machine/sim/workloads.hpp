// SPDX-License-Identifier: Apache-2.0
// Checked runs of the workloads of software/: StreamCluster's steps, parallel regions, and programs
// of the vector machine. Every result must be the host's, which the library's own workload or
// vector machine computes where it can. What the functions throw is as in checked_run.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/machine/sim/checked_run.hpp"
#include "hardware/machine/software/vector_program.hpp"

namespace tutti::machine {

struct workload_run {
  // A number of rtl::algorithm or rtl::contender.
  std::uint32_t contender = 0;
  unsigned cores = 2, sockets = 1, unit_distance = 0;
  // A RAM without caches, to develop programs.
  bool ideal = false;
};

// Returns the cycles of a step, of the slowest core (streamcluster.cpp).
figures measure_streamcluster(const images& folder, const workload_run& on,
                              std::uint32_t steps = 12);

// Returns the cycles of a region, as the master counts them (regions.cpp). With contender::none it
// is the master's part of the work alone.
figures measure_regions(const images& folder, const workload_run& on, std::uint32_t length,
                        std::uint32_t regions);

// Executes a program of the vector machine (vcode.cpp) `runs` times. Returns the cycles of a run,
// of the slowest core, and what a run executes.
struct vector_figures {
  figures cycles;
  std::uint32_t instructions = 0, barriers = 0;
};
vector_figures measure_vectors(const images& folder, const workload_run& on,
                               rtl::vector_program program, std::uint32_t elements,
                               std::uint32_t runs);

// Runs a program that fails (vcode_failures.cpp). Returns the failure that each core tells.
std::vector<std::uint32_t> run_failure(const images& folder, const workload_run& on,
                                       rtl::vector_failure how, std::uint32_t elements);

// The text of a program.
std::string text_of(rtl::vector_program program);
// What the program leaves of the same input if the library's vector machine executes it.
std::vector<std::int32_t> run_by_library(rtl::vector_program program, std::uint32_t elements);

}  // namespace tutti::machine
