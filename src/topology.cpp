// SPDX-License-Identifier: Apache-2.0
// The order in which threads are bound, and how ranks are divided among caches.

#include "tutti/platform/topology.hpp"

#include <algorithm>
#include <fstream>

#include "src/topology_source.hpp"
#include "src/uncancelled.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::platform {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

topology detect() {
  // It reads files, and what asks for the topology first may be a constructor that is noexcept.
  const uncancelled held;
  topology found;
  found.model = cpu_model();
  read_topology(found);
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
