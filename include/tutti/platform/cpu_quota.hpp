// SPDX-License-Identifier: Apache-2.0
// How much processor time the control groups (cgroup v1, v2, or both mounted side by side) leave to
// this process, and for how long they have stopped it. Needs the compiled library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti::platform {

// A control group of this process, in a hierarchy that has or can have the wanted controller.
struct cpu_group {
  bool is_v2 = false;
  // The folder where the hierarchy is mounted.
  std::string mount;
  // The group's folder below it: "" or "/...".
  std::string group;
};

// Returns the groups that the texts of /proc/self/cgroup and /proc/self/mountinfo name and that can
// have the controller ("cpu", "memory"), at most one for each hierarchy. Skips lines that it does
// not understand. Thread-safe. Throws only std::bad_alloc.
TUTTI_CONTAINERS TUTTI_API std::vector<cpu_group> cpu_groups(const std::string& cgroup,
                                                             const std::string& mountinfo,
                                                             const std::string& controller = "cpu");

// The folder of a control group.
struct group_folder {
  bool is_v2 = false;
  std::string path;
};

// Returns the folders of this process's groups that can have the controller, and of the groups
// above them as far as the process can see them. `root` is put before every path, for tests.
// Thread-safe. Throws only std::bad_alloc.
TUTTI_CONTAINERS TUTTI_API std::vector<group_folder> group_folders(const std::string& controller,
                                                                   const std::string& root = {});

// The tightest quota among the groups that this process is in: its own group and those above it, as
// far as the process can see them. (A container sees none above its own.)
struct cpu_quota {
  // Processor seconds per second, or 0 if there is no quota.
  double cpus = 0;
  // The file that holds the quota, .../cpu.max (v2) or .../cpu.cfs_quota_us (v1), or empty if there
  // is no quota.
  std::string file;
  // The path of cpu.stat of the same group.
  std::string stats;
};

// How often and how long a group has stopped its threads because its quota was used up, since the
// group was created.
struct cpu_throttling {
  // The number of periods that were cut short.
  std::uint64_t times = 0;
  // Nanoseconds, summed over the CPUs: no thread has lost more than this.
  std::uint64_t ns = 0;
};

// Reads the quota from files in /proc and /sys, which takes a fraction of a millisecond. A file
// that cannot be read or understood counts as no quota. `root` is put before every path, for tests;
// the paths in the result contain it. Thread-safe. Throws only std::bad_alloc.
TUTTI_API cpu_quota read_cpu_quota(const std::string& root = {});

// Reads a cpu.stat of cgroup v1 or v2. Returns zeros if it cannot. Thread-safe. Throws only
// std::bad_alloc.
TUTTI_API cpu_throttling read_cpu_throttling(const std::string& stats);

// Returns the quota in CPUs, or 0 if there is none. The value is at most a second old: the first
// call after a second reads the files again. Thread-safe; it never waits for another thread.
TUTTI_API double recent_cpu_quota() noexcept;

// Returns cpu_throttling::ns of the group whose quota recent_cpu_quota() returned, or 0 if there is
// no quota. If there is one, each call reads one file. The kernel counts a stop when the stop ends.
// Thread-safe; it never waits for another thread.
TUTTI_API std::uint64_t recent_throttled_ns() noexcept;

// Lets usable_cpus() and throttled_ns() of usable_cpus.hpp, which work without the compiled
// library, call the two functions above. The library calls it when it is loaded.
TUTTI_API bool tell_quota_to_headers() noexcept;

}  // namespace tutti::platform
