// SPDX-License-Identifier: Apache-2.0
// Reads the topology of the machine from hwloc.
#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "src/topology_source.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::platform {
namespace {

struct destroy {
  void operator()(hwloc_topology_t t) const noexcept { hwloc_topology_destroy(t); }
};
using handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, destroy>;

unsigned count(hwloc_topology_t t, hwloc_obj_type_t type) {
  return static_cast<unsigned>(std::max(0, hwloc_get_nbobjs_by_type(t, type)));
}

std::vector<unsigned> numbers(hwloc_const_cpuset_t set) {
  std::vector<unsigned> cpus;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i))
    cpus.push_back(static_cast<unsigned>(i));
  return cpus;
}

// Returns the CPUs to which the process was bound when it began, if hwloc knows them too.
std::vector<unsigned> allowed_cpus(hwloc_topology_t t) {
  return both(numbers(hwloc_topology_get_allowed_cpuset(t)), process_cpus());
}

std::vector<std::vector<unsigned>> groups_by_cache(hwloc_topology_t t,
                                                   const std::vector<unsigned>& allowed) {
  std::vector<std::vector<unsigned>> groups;
  const bool has_l3 = count(t, HWLOC_OBJ_L3CACHE) > 0;
  const hwloc_obj_type_t type = has_l3 ? HWLOC_OBJ_L3CACHE : HWLOC_OBJ_PACKAGE;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(t, type, o)) != nullptr;) {
    std::vector<unsigned> group = both(numbers(o->cpuset), allowed);
    if (!group.empty()) groups.push_back(std::move(group));
  }
  if (groups.empty() && !allowed.empty()) groups.push_back(allowed);
  return groups;
}

unsigned numa_node_of(hwloc_obj_t object) {
  hwloc_nodeset_t nodes = object->nodeset;
  const int first = nodes == nullptr ? -1 : hwloc_bitmap_first(nodes);
  return first < 0 ? 0 : static_cast<unsigned>(first);
}

std::vector<core> cores_of(hwloc_topology_t t, const std::vector<unsigned>& allowed) {
  std::vector<core> cores;
  // Some machines do not report their cores. Their hardware threads count as cores.
  const hwloc_obj_type_t type = count(t, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(t, type, o)) != nullptr;) {
    std::vector<unsigned> cpus = both(numbers(o->cpuset), allowed);
    if (!cpus.empty()) cores.push_back({std::move(cpus), numa_node_of(o)});
  }
  return cores;
}

}  // namespace

void read_topology(topology& found) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return;
  const handle t(raw);
  if (hwloc_topology_load(raw) != 0) return;
  found.packages = count(raw, HWLOC_OBJ_PACKAGE);
  found.numa_nodes = count(raw, HWLOC_OBJ_NUMANODE);
  found.cores = count(raw, HWLOC_OBJ_CORE);
  found.cpus = count(raw, HWLOC_OBJ_PU);
  found.allowed = allowed_cpus(raw);
  found.allowed_cores = cores_of(raw, found.allowed);
  found.cache_groups = groups_by_cache(raw, found.allowed);
}

}  // namespace tutti::platform
