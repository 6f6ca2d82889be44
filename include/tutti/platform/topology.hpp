// SPDX-License-Identifier: Apache-2.0
// The machine as this process may use it, by hwloc. Needs the compiled library.
#pragma once

#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti::platform {

// A physical core.
struct core {
  std::vector<unsigned> cpus;  // its hardware threads that this process may use
  unsigned numa_node = 0;
};

struct topology {
  unsigned packages = 0;
  unsigned numa_nodes = 0;
  unsigned cores = 0;                               // physical
  unsigned cpus = 0;                                // hardware threads online
  std::vector<unsigned> allowed;                    // process_cpus() of usable_cpus.hpp
  std::vector<core> allowed_cores;                  // that have allowed CPUs; neighbours are near
  std::vector<std::vector<unsigned>> cache_groups;  // allowed CPUs that share a last-level cache
  std::string model;                                // as the CPU calls itself
};

// Where threads are bound, one after the other.
enum class placement {
  compact,  // a physical core each, neighbours first; then the cores' other hardware threads
  spread,   // the same, but in turn over the NUMA nodes
  none,     // nowhere: the operating system moves them
};

// The CPUs that this process may use, in that order; empty for `none`.
TUTTI_API std::vector<unsigned> cpus_for(placement where);

// Physical cores among the allowed CPUs, no more than usable_cpus(), which counts the quota of today; at least 1.
TUTTI_API unsigned usable_cores();

// Detected at the first call.
TUTTI_API const topology& machine();

// Consecutive ranks, dealt to the groups of CPUs that share a last-level cache as `participants` threads spread
// over the allowed CPUs in order would be: sizes of the groups, none of them zero, their sum `participants`.
TUTTI_API std::vector<rank_t> cache_groups(rank_t participants);

}  // namespace tutti::platform
