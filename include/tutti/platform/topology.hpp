// SPDX-License-Identifier: Apache-2.0
// The machine as this process may use it, by hwloc: binding- and cgroup-aware. Needs the compiled library.
#pragma once

#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti::platform {

struct topology {
  unsigned packages = 0;
  unsigned numa_nodes = 0;
  unsigned cores = 0;                               // physical
  unsigned cpus = 0;                                // hardware threads online
  std::vector<unsigned> allowed;                    // CPU numbers that this process may use
  std::vector<std::vector<unsigned>> cache_groups;  // allowed CPUs that share a last-level cache
  double cpu_quota = 0;                             // cgroup limit in CPUs; 0 if there is none
  std::string model;                                // as the CPU calls itself
};

// Detected at the first call.
TUTTI_API const topology& machine();

// Consecutive ranks, dealt to the groups of CPUs that share a last-level cache as `participants` threads spread
// over the allowed CPUs in order would be: sizes of the groups, none of them zero, their sum `participants`.
TUTTI_API std::vector<rank_t> cache_groups(rank_t participants);

}  // namespace tutti::platform
