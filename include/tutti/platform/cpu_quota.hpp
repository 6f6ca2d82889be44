// SPDX-License-Identifier: Apache-2.0
// How much processor time the control groups (cgroup v1, v2, or both mounted side by side) leave to this process, and for
// how long they have stopped it. Needs the compiled library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti::platform {

// A group of this process, in a hierarchy that has or can have the cpu controller.
struct cpu_group {
  bool is_v2 = false;
  std::string mount;  // the folder where the hierarchy is mounted
  std::string group;  // the group's folder below that, "" or "/..."
};

// The groups that the texts of /proc/self/cgroup and /proc/self/mountinfo tell of, at most one a hierarchy. Lines that cannot
// be understood are left out. Thread-safe. Throws std::bad_alloc only.
TUTTI_API std::vector<cpu_group> cpu_groups(const std::string& cgroup,
                                            const std::string& mountinfo);

// The tightest quota among the groups that this process is in: its own and those above it, as far as they can be seen (a
// container sees none above its own).
struct cpu_quota {
  double cpus = 0;  // processor seconds for each second; 0 if there is no quota
  std::string
      file;  // that says so: .../cpu.max (v2) or .../cpu.cfs_quota_us (v1); empty if there is none
  std::string stats;  // cpu.stat of the same group
};

// Time that a group has kept its threads off their CPUs because its quota was used up, since the group was made.
struct cpu_throttling {
  std::uint64_t times = 0;  // periods that were cut short
  std::uint64_t ns = 0;     // summed over CPUs: no thread has lost more than this
};

// Reads them now: some files of /proc and /sys, a fraction of a millisecond. What cannot be read or understood is no quota. `root` stands
// before every path, for tests; the paths that come back contain it. Thread-safe. Throws std::bad_alloc only.
TUTTI_API cpu_quota read_cpu_quota(const std::string& root = {});

// Reads a cpu.stat of either kind; zeros if it cannot be read. Thread-safe. Throws std::bad_alloc only.
TUTTI_API cpu_throttling read_cpu_throttling(const std::string& stats);

// The quota as it was at most a second ago: a change is seen by the first call after that, which reads the files again.
// Thread-safe; never waits for another thread. 0 if there is no quota.
TUTTI_API double recent_cpu_quota() noexcept;

// cpu_throttling::ns of the group whose quota recent_cpu_quota() told; 0 if there is none. Reads one file at each call if
// there is a quota. The kernel adds a stop to it when the stop ends. Thread-safe; never waits for another thread.
TUTTI_API std::uint64_t recent_throttled_ns() noexcept;

// Lets usable_cpus() and throttled_ns() (usable_cpus.hpp), which stand in headers, ask the two above. The library does it
// when it is loaded.
TUTTI_API bool tell_quota_to_headers() noexcept;

}  // namespace tutti::platform
