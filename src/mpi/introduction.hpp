// SPDX-License-Identifier: Apache-2.0
// What the processes tell each other before the first packet: the values on which they must agree,
// and where each one runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/mpi/options.hpp"
#include "tutti/mpi/process.hpp"

namespace tutti::mpi {

struct introduction {
  // Increased whenever packets, the termination-detection machines or this introduction change.
  static constexpr std::uint32_t current_protocol = 3;

  std::uint32_t protocol = current_protocol;
  std::uint32_t threads = 0;
  std::uint64_t packet_bytes = 0;
  std::uint64_t packets_under_way = 0;
  std::uint64_t ring_bytes = 0;
  std::uint64_t processes_per_node = 0;
  char detector[16] = {};
  char transport[16] = {};
  // Where it runs, and the number of its node if options::processes_per_node is given.
  std::uint64_t machine = 0;
  std::uint64_t node = 0;
  // One bit per CPU that the process may use, up to 1024.
  std::uint64_t cpus[16] = {};
  // Processor seconds per second; 0: no quota.
  double cpu_quota = 0;
  std::int32_t pid = 0;
  std::uint32_t byte_order = 0x01020304;
  // Why this process cannot take part; empty if it can.
  char fault[200] = {};
};

// `index`: that of this process in the communicator.
introduction introduce_this_process(const options& chosen, std::uint32_t index);

// Throws std::invalid_argument, with the same sentence on all processes, unless all agree.
void require_agreement(const std::vector<introduction>& all);

// The number of CPUs that the processes of this machine may use together. A quota counts once,
// because the processes are assumed to be in one group.
std::uint32_t usable_cpus(const std::vector<introduction>& all, std::uint64_t machine);

// Whether there are more participants than CPUs on this machine, which may have several nodes.
bool is_crowded(const std::vector<introduction>& all, const layout& where, std::uint64_t machine);

}  // namespace tutti::mpi
