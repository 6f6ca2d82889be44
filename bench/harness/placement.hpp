// SPDX-License-Identifier: Apache-2.0
// Which CPUs the run may use, in which order the ranks take them, and how a thread is put on one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::bench {

inline constexpr int any_cpu = -1;

// Allowed by the affinity mask and by the cgroup, ascending. Read at the first call, which must
// come before this thread is bound to a CPU.
const std::vector<int>& allowed_cpus();

// Allowed CPUs grouped by the core they belong to, in the order of the topology (neighbours are
// near).
std::vector<std::vector<int>> allowed_cores();

// How the ranks are put on CPUs: rank r gets cpus[r % cpus.size()]; no CPUs means unpinned.
struct placement {
  // core, compact, spread, none, or the list as it was given.
  std::string name;
  std::vector<int> cpus;

  bool pinned() const { return !cpus.empty(); }
  int cpu_of(unsigned rank) const { return cpus.empty() ? any_cpu : cpus[rank % cpus.size()]; }
};

// `text` is core, compact, spread, none or a list such as 0,2-3. Throws std::invalid_argument.
placement make_placement(std::string_view text);

// Distinct CPUs of a placement; all allowed cores for an unpinned one.
std::vector<int> cores_of(const placement& where);

// Puts the calling thread on `cpu`, or on all allowed CPUs for any_cpu. Throws std::system_error.
void pin_this_thread(int cpu);

}  // namespace tutti::bench
