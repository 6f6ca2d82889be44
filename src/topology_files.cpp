// SPDX-License-Identifier: Apache-2.0
// Reads the topology of the machine from /sys, for builds without hwloc. If the files are not
// there, as in some containers, each CPU counts as a core, all of one package.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "src/topology_source.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::platform {
namespace {

const std::string system_files = "/sys/devices/system/";

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The numbers of a list such as "0-3,8", in ascending order; none if the file does not exist.
std::vector<unsigned> list_in(const std::string& path) {
  const std::string text = first_line(path);
  std::vector<unsigned> numbers;
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const unsigned long first = std::strtoul(at, &end, 10);
    if (end == at) break;
    unsigned long last = first;
    if (*end == '-') {
      at = end + 1;
      last = std::strtoul(at, &end, 10);
    }
    for (unsigned long i = first; i <= last; ++i) numbers.push_back(static_cast<unsigned>(i));
    at = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

std::string folder_of(unsigned cpu) { return system_files + "cpu/cpu" + std::to_string(cpu) + "/"; }

// The CPUs that share a core, or a package, with this one.
std::vector<unsigned> sharers(unsigned cpu, const char* file) {
  std::vector<unsigned> found = list_in(folder_of(cpu) + "topology/" + file);
  return found.empty() ? std::vector<unsigned>{cpu} : found;
}

// The CPUs that share the third-level cache with this one, or its package where there is none.
std::vector<unsigned> cache_sharers(unsigned cpu, const std::vector<unsigned>& allowed) {
  for (int index = 0;; ++index) {
    const std::string cache = folder_of(cpu) + "cache/index" + std::to_string(index) + "/";
    const std::string level = first_line(cache + "level");
    if (level.empty()) break;
    if (level == "3") return list_in(cache + "shared_cpu_list");
  }
  const std::vector<unsigned> package = list_in(folder_of(cpu) + "topology/core_siblings_list");
  return package.empty() ? allowed : package;
}

std::map<unsigned, unsigned> numa_nodes() {
  std::map<unsigned, unsigned> node_of;
  for (const unsigned node : list_in(system_files + "node/online"))
    for (const unsigned cpu :
         list_in(system_files + "node/node" + std::to_string(node) + "/cpulist"))
      node_of[cpu] = node;
  return node_of;
}

// How many different sets of CPUs there are.
template <class SetOf>
unsigned count_sets(const std::vector<unsigned>& cpus, SetOf set_of) {
  std::set<std::vector<unsigned>> sets;
  for (const unsigned cpu : cpus) sets.insert(set_of(cpu));
  return static_cast<unsigned>(sets.size());
}

// The different sets, each reduced to the allowed CPUs, in the order of their first CPU.
template <class SetOf>
std::vector<std::vector<unsigned>> allowed_sets(const std::vector<unsigned>& allowed,
                                                SetOf set_of) {
  std::vector<std::vector<unsigned>> sets;
  for (const unsigned cpu : allowed) {
    std::vector<unsigned> set = both(set_of(cpu), allowed);
    if (!set.empty() && set.front() == cpu) sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace

void read_topology(topology& found) {
  const auto core_of = [](unsigned cpu) { return sharers(cpu, "thread_siblings_list"); };
  const auto package_of = [](unsigned cpu) {
    return first_line(folder_of(cpu) + "topology/physical_package_id");
  };
  found.allowed = process_cpus();
  std::vector<unsigned> online = list_in(system_files + "cpu/online");
  if (online.empty()) online = found.allowed;
  std::set<std::string> packages;
  for (const unsigned cpu : online) packages.insert(package_of(cpu));
  const std::map<unsigned, unsigned> nodes = numa_nodes();
  std::set<unsigned> different_nodes;
  for (const auto& [cpu, node] : nodes) different_nodes.insert(node);
  found.packages = static_cast<unsigned>(packages.size());
  found.numa_nodes = std::max(1u, static_cast<unsigned>(different_nodes.size()));
  found.cores = count_sets(online, core_of);
  found.cpus = static_cast<unsigned>(online.size());
  for (std::vector<unsigned>& cpus : allowed_sets(found.allowed, core_of)) {
    const auto node = nodes.find(cpus.front());
    found.allowed_cores.push_back({std::move(cpus), node == nodes.end() ? 0 : node->second});
  }
  found.cache_groups =
      allowed_sets(found.allowed, [&](unsigned cpu) { return cache_sharers(cpu, found.allowed); });
}

}  // namespace tutti::platform
