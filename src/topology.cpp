// SPDX-License-Identifier: Apache-2.0
// Reads the topology of the machine from hwloc.

#include "tutti/platform/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <fstream>
#include <memory>

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

std::vector<unsigned> both(const std::vector<unsigned>& a, const std::vector<unsigned>& b) {
  std::vector<unsigned> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
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

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

topology detect() {
  topology found;
  found.model = cpu_model();
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return found;
  const handle t(raw);
  if (hwloc_topology_load(raw) != 0) return found;
  found.packages = count(raw, HWLOC_OBJ_PACKAGE);
  found.numa_nodes = count(raw, HWLOC_OBJ_NUMANODE);
  found.cores = count(raw, HWLOC_OBJ_CORE);
  found.cpus = count(raw, HWLOC_OBJ_PU);
  found.allowed = allowed_cpus(raw);
  found.allowed_cores = cores_of(raw, found.allowed);
  found.cache_groups = groups_by_cache(raw, found.allowed);
  return found;
}

}  // namespace

const topology& machine() {
  static const topology found = detect();
  return found;
}

namespace {

// Takes one core from each node in turn.
std::vector<core> dealt_over_nodes(std::vector<core> cores) {
  // For each core, the number of cores of its node before it.
  std::vector<std::size_t> turn(cores.size());
  for (std::size_t i = 0; i < cores.size(); ++i)
    turn[i] = static_cast<std::size_t>(
        std::count_if(cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const core& c) { return c.numa_node == cores[i].numa_node; }));
  std::vector<std::size_t> order(cores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return turn[a] < turn[b]; });
  std::vector<core> dealt;
  for (const std::size_t i : order) dealt.push_back(cores[i]);
  return dealt;
}

}  // namespace

std::vector<unsigned> cpus_for(placement where) {
  if (where == placement::none) return {};
  std::vector<core> cores = machine().allowed_cores;
  if (where == placement::spread) cores = dealt_over_nodes(std::move(cores));
  std::vector<unsigned> cpus;
  for (std::size_t thread = 0; cpus.size() < machine().allowed.size(); ++thread) {
    const std::size_t before = cpus.size();
    for (const core& c : cores)
      if (thread < c.cpus.size()) cpus.push_back(c.cpus[thread]);
    if (cpus.size() == before) break;
  }
  return cpus;
}

unsigned usable_cores() {
  const auto cores = static_cast<unsigned>(machine().allowed_cores.size());
  return std::max(1u, std::min(cores, usable_cpus()));
}

std::vector<rank_t> cache_groups(rank_t participants) {
  const auto& groups = machine().cache_groups;
  std::size_t cpus = 0;
  for (const auto& group : groups) cpus += group.size();
  std::vector<rank_t> sizes;
  std::size_t seen = 0, dealt = 0;
  for (const auto& group : groups) {
    seen += group.size();
    // The whole number of ranks that corresponds to the CPUs seen so far.
    const std::size_t upto = participants * seen / cpus;
    if (upto > dealt) sizes.push_back(static_cast<rank_t>(upto - dealt));
    dealt = upto;
  }
  if (sizes.empty()) sizes.push_back(participants);
  return sizes;
}

}  // namespace tutti::platform
