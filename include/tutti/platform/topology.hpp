// SPDX-License-Identifier: Apache-2.0
// The part of the machine that this process may use, found by hwloc. Needs the compiled library.
#pragma once

#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::platform {

// A physical core.
struct core {
  // The core's hardware threads that this process may use.
  std::vector<unsigned> cpus;
  unsigned numa_node = 0;
};

struct topology {
  unsigned packages = 0;
  unsigned numa_nodes = 0;
  // Physical cores.
  unsigned cores = 0;
  // Hardware threads that are online.
  unsigned cpus = 0;
  // The CPUs that this process may use: process_cpus() of usable_cpus.hpp.
  std::vector<unsigned> allowed;
  // The cores that have allowed CPUs. Cores next to each other in the list are close.
  std::vector<core> allowed_cores;
  // The allowed CPUs, grouped by the last-level cache that they share.
  std::vector<std::vector<unsigned>> cache_groups;
  // The name that the CPU reports.
  std::string model;
};

// The order in which threads are bound to CPUs.
enum class placement {
  // Each thread gets a physical core, neighbouring cores first. When the cores are used up, further
  // threads get the cores' other hardware threads.
  compact,
  // The same, but the threads take turns over the NUMA nodes.
  spread,
  // The threads are not bound: the operating system moves them.
  none,
};

// Returns the CPUs that this process may use, in the order of `where`; it is empty for `none`.
TUTTI_CONTAINERS TUTTI_API std::vector<unsigned> cpus_for(placement where);

// Returns the number of physical cores among the allowed CPUs, but at most usable_cpus(), which
// follows the quota, and at least 1.
TUTTI_API unsigned usable_cores();

// Returns the topology. The first call detects it. Thread-safe.
TUTTI_CONTAINERS TUTTI_API const topology& machine();

// Divides `participants` consecutive ranks into groups that share a last-level cache, as if one
// thread after the other were bound to the allowed CPUs in order. Returns the sizes of the groups:
// none is zero, and their sum is `participants`.
TUTTI_CONTAINERS TUTTI_API std::vector<rank_t> cache_groups(rank_t participants);

}  // namespace tutti::platform

#if TUTTI_HOSTED
inline std::uint32_t tutti::native::cores() { return platform::usable_cores(); }
#endif
