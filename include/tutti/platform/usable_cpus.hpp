// SPDX-License-Identifier: Apache-2.0
// How many CPUs this process may use. All of tutti compares the number of threads with this number
// to decide whether there are more threads than CPUs. Headers alone know the affinity mask; with
// the compiled library the control group's quota counts too.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/minmax.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/platform/throttling.hpp"

#if TUTTI_HOSTED
#include <dirent.h>
#include <sched.h>

#include <cerrno>
#include <cstdlib>
#endif

namespace tutti::platform {

#if TUTTI_HOSTED

namespace detail {

// Adds the CPUs in the affinity mask of thread `id` (0: the caller). It tries longer masks as long
// as the kernel reports that the mask is too short.
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

TUTTI_CONTAINERS inline std::vector<unsigned> read_process_cpus() {
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

// Returns the CPUs that the threads of this process could run on when the program, or the library,
// was loaded: the CPUs that taskset, a launcher or a container's cpuset gave the process. It does
// not use the calling thread's present mask, which may be a single CPU to which the program has
// bound the thread. It does not notice masks that change later. In ascending order, never empty.
// Thread-safe.
TUTTI_CONTAINERS TUTTI_API inline const std::vector<unsigned>& process_cpus() {
  static const std::vector<unsigned> cpus = [] {
    std::vector<unsigned> found = detail::read_process_cpus();
    if (found.empty()) found.push_back(0);
    return found;
  }();
  return cpus;
}

namespace detail {
// Calls process_cpus() before main, and so before the program can bind a thread.
TUTTI_API inline const std::size_t process_cpus_at_start = process_cpus().size();
}  // namespace detail

// Returns the number of CPUs of process_cpus(), but at most the quota, rounded up (1.5 CPUs count
// as 2), and at least 1. Thread-safe. The quota may be a second old.
inline std::uint32_t usable_cpus() noexcept {
  const auto mask = static_cast<std::uint32_t>(process_cpus().size());
  const double quota = cpu_limits.quota == nullptr ? 0 : cpu_limits.quota();
  if (quota <= 0 || quota >= mask) return mask;
  const auto whole = static_cast<std::uint32_t>(quota);
  return larger(1u, whole + (quota > whole ? 1u : 0u));
}

#endif

}  // namespace tutti::platform

#if TUTTI_HOSTED
inline std::uint32_t tutti::native::cpus() noexcept { return platform::usable_cpus(); }
#endif
