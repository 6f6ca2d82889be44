// SPDX-License-Identifier: Apache-2.0
// How many CPUs this process may use: the one number by which everything in tutti decides whether there are more threads
// than CPUs. Headers alone know the affinity mask; with the compiled library linked the control group's quota counts too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

#if TUTTI_HOSTED
#include <dirent.h>
#include <sched.h>

#include <cerrno>
#include <cstdlib>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

namespace detail {

// Adds the CPUs in the mask of thread `id` (0: the caller). Masks of any length: the kernel says when ours is too short.
inline void add_cpus_of(pid_t id, std::vector<bool>& cpus) {
  constexpr std::size_t most_bytes = 1u << 16;
  for (std::size_t bytes = 128; bytes <= most_bytes; bytes *= 2) {
    std::vector<cpu_set_t> mask((bytes + sizeof(cpu_set_t) - 1) / sizeof(cpu_set_t));
    const std::size_t size = mask.size() * sizeof(cpu_set_t);
    if (sched_getaffinity(id, size, mask.data()) == 0) {
      if (cpus.size() < 8 * size) cpus.resize(8 * size);
      for (std::size_t i = 0; i < 8 * size; ++i)
        if (CPU_ISSET_S(i, size, mask.data())) cpus[i] = true;
      return;
    }
    if (errno != EINVAL) return;
  }
}

inline std::vector<unsigned> read_process_cpus() {
  std::vector<bool> cpus;
  add_cpus_of(0, cpus);
  if (DIR* const threads = opendir("/proc/self/task")) {
    while (const dirent* const each = readdir(threads))
      if (const int id = std::atoi(each->d_name); id > 0) add_cpus_of(id, cpus);
    closedir(threads);
  }
  std::vector<unsigned> numbers;
  for (std::size_t i = 0; i < cpus.size(); ++i)
    if (cpus[i]) numbers.push_back(static_cast<unsigned>(i));
  return numbers;
}

}  // namespace detail

// The CPUs that the threads of this process could run on when the program, or the library, was loaded: what taskset, a
// launcher or a container's cpuset gave the process. Not the calling thread's mask of today, which may be the one CPU that
// somebody has pinned it to. A mask that is widened or narrowed later is not noticed. In ascending order, never empty.
TUTTI_API inline const std::vector<unsigned>& process_cpus() {
  static const std::vector<unsigned> cpus = [] {
    std::vector<unsigned> found = detail::read_process_cpus();
    if (found.empty()) found.push_back(0);
    return found;
  }();
  return cpus;
}

namespace detail {
// Read before main, and so before anybody can have pinned a thread.
TUTTI_API inline const std::size_t process_cpus_at_start = process_cpus().size();

struct cpu_limits {
  double (*quota)() noexcept = nullptr;  // in CPUs, 0 if there is none
  std::uint64_t (*throttled_ns)() noexcept = nullptr;
};
}  // namespace detail

// Set by the compiled library (cpu_quota.hpp).
TUTTI_API inline constinit detail::cpu_limits cpu_limits{};

// The CPUs of process_cpus(), but no more than the quota, rounded up: 1.5 CPUs are 2. At least 1. Thread-safe; the quota is
// as old as a second.
inline std::uint32_t usable_cpus() noexcept {
  const auto mask = static_cast<std::uint32_t>(process_cpus().size());
  const double quota = cpu_limits.quota == nullptr ? 0 : cpu_limits.quota();
  if (quota <= 0 || quota >= mask) return mask;
  const auto whole = static_cast<std::uint32_t>(quota);
  return std::max(1u, whole + (quota > whole ? 1u : 0u));
}

// For how long the control group's quota has kept this process's threads off their CPUs so far, summed over the CPUs: what
// a thread's run delay (schedstat) may contain that no other process has caused. 0 without a quota, and from headers
// alone. Reads a file if there is a quota: for slow paths.
inline std::uint64_t throttled_ns() noexcept {
  return cpu_limits.throttled_ns == nullptr ? 0 : cpu_limits.throttled_ns();
}

#else

inline std::uint64_t throttled_ns() noexcept { return 0; }

#endif

}  // namespace tutti::platform
