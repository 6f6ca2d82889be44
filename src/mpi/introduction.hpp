// SPDX-License-Identifier: Apache-2.0
// What processes tell each other before the first packet: what they must agree on, and where each one runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/mpi/options.hpp"

namespace tutti::mpi {

struct introduction {
  // Raised whenever packets, the machines of termination detection or this introduction change.
  static constexpr std::uint32_t current_protocol = 2;

  std::uint32_t protocol = current_protocol;
  std::uint32_t threads = 0;
  std::uint64_t packet_bytes = 0;
  std::uint64_t packets_under_way = 0;
  std::uint64_t ring_bytes = 0;
  char detector[16] = {};
  char transport[16] = {};
  std::uint64_t node = 0;
  std::uint64_t cpus[16] = {};  // a bit for each CPU that the process may use, up to 1024
  double cpu_quota = 0;         // processor seconds for each second; 0: no quota
  std::int32_t pid = 0;
  std::uint32_t byte_order = 0x01020304;
  char fault[200] = {};  // why this process cannot take part; empty: it can
};

introduction introduce_this_process(const options& chosen);

// Throws std::invalid_argument, with the same sentence on all processes, unless all agree.
void require_agreement(const std::vector<introduction>& all);

// How many CPUs the processes of this node may use together. A quota counts once: they are taken to be in one group.
std::uint32_t usable_cpus(const std::vector<introduction>& all, std::uint64_t node);

}  // namespace tutti::mpi
