// SPDX-License-Identifier: Apache-2.0
#include "src/mpi/introduction.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "src/mpi/neighbours.hpp"
#include "tutti/mpi/packet.hpp"
#include "tutti/platform/cpu_quota.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/names.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/termination/protocol/algorithms.hpp"

namespace tutti::mpi {
namespace {

template <std::size_t N>
void copy_text(char (&to)[N], const std::string& from) {
  const std::size_t kept = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), kept);
  to[kept] = '\0';
}

// Returns what is wrong with the options of this process. All processes refuse it together, so that
// none waits for another.
std::string fault_of(const options& chosen) {
  constexpr std::size_t least = 512, most = 64 * 1024 * 1024;
  if (chosen.threads < 1 || chosen.threads > 4096)
    return "threads is " + std::to_string(chosen.threads) + "; it must be 1 to 4096";
  if (tutti::detail::find_by_name(protocol::algorithms, chosen.detector) == nullptr)
    return "there is no termination detection called '" + chosen.detector + "'; the names are " +
           tutti::detail::names_of(protocol::algorithms);
  if (chosen.transport != "auto" && chosen.transport != "mpi" && chosen.transport != "shared")
    return "transport '" + chosen.transport + "' is not one of auto, mpi, shared";
  if (chosen.packet_bytes < least || chosen.packet_bytes > most)
    return "packet_bytes is " + std::to_string(chosen.packet_bytes) +
           "; it must be 512 to 67108864";
  // Control packets have up to 16 bytes per thread.
  if (chosen.packet_bytes < records_begin(chosen.threads) + 256 ||
      chosen.packet_bytes < sizeof(packet_header) + std::size_t{16} * chosen.threads)
    return "packet_bytes is " + std::to_string(chosen.packet_bytes) +
           ", too small for this number of threads";
  if (chosen.packets_under_way < 1 || chosen.packets_under_way > 1024)
    return "packets_under_way is " + std::to_string(chosen.packets_under_way) +
           "; it must be 1 to 1024";
  if (chosen.ring_bytes != 0 && (chosen.ring_bytes < 1024 || chosen.ring_bytes > most))
    return "ring_bytes is " + std::to_string(chosen.ring_bytes) +
           "; it must be 1024 to 67108864, or 0 to let tutti choose";
  return {};
}

template <class Value>
void require_same(const std::vector<introduction>& all, const char* what, Value value) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (value(all[i]) == value(all[0])) continue;
    refuse(std::string("mpi::communicator: the processes disagree on ") + what +
           ": process 0 has " + value(all[0]) + ", process " + std::to_string(i) + " has " +
           value(all[i]));
  }
}

}  // namespace

introduction introduce_this_process(const options& chosen, std::uint32_t index) {
  introduction mine;
  mine.threads = chosen.threads;
  mine.packet_bytes = chosen.packet_bytes;
  mine.packets_under_way = chosen.packets_under_way;
  mine.ring_bytes = chosen.ring_bytes;
  copy_text(mine.detector, chosen.detector);
  copy_text(mine.transport, chosen.transport);
  mine.processes_per_node = chosen.processes_per_node;
  mine.machine = this_node();
  if (chosen.processes_per_node != 0) mine.node = index / chosen.processes_per_node;
  for (const unsigned cpu : platform::process_cpus())
    if (cpu < 64 * std::size(mine.cpus)) mine.cpus[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  mine.cpu_quota = platform::recent_cpu_quota();
  mine.pid = static_cast<std::int32_t>(getpid());
  copy_text(mine.fault, fault_of(chosen));
  return mine;
}

std::uint32_t usable_cpus(const std::vector<introduction>& all, std::uint64_t machine) {
  std::uint64_t cpus[std::size(introduction{}.cpus)] = {};
  double quota = 0;
  bool all_have_quota = true;
  for (const introduction& each : all) {
    if (each.machine != machine) continue;
    for (std::size_t i = 0; i < std::size(cpus); ++i) cpus[i] |= each.cpus[i];
    quota = std::max(quota, each.cpu_quota);
    all_have_quota = all_have_quota && each.cpu_quota > 0;
  }
  double usable = 0;
  for (const std::uint64_t word : cpus) usable += std::popcount(word);
  if (all_have_quota) usable = std::min(usable, std::ceil(quota));
  return static_cast<std::uint32_t>(std::max(1.0, usable));
}

bool is_crowded(const std::vector<introduction>& all, const layout& where, std::uint64_t machine) {
  std::size_t here = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].machine == machine) here += where.participants[i].size();
  return here > usable_cpus(all, machine);
}

void require_agreement(const std::vector<introduction>& all) {
  using one = const introduction&;
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  // This comes first: everything that follows has the same meaning only in the same protocol.
  require_same(all, "the version of tutti's protocol", [&](one i) { return number(i.protocol); });
  require_same(all, "the order of bytes", [&](one i) { return number(i.byte_order); });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].fault[0] != '\0')
      refuse("mpi::communicator: process " + std::to_string(i) + ": " + all[i].fault);
  require_same(all, "threads", [&](one i) { return number(i.threads); });
  require_same(all, "detector", [&](one i) { return std::string(i.detector); });
  require_same(all, "transport", [&](one i) { return std::string(i.transport); });
  require_same(all, "packet_bytes", [&](one i) { return number(i.packet_bytes); });
  require_same(all, "packets_under_way", [&](one i) { return number(i.packets_under_way); });
  require_same(all, "ring_bytes", [&](one i) { return number(i.ring_bytes); });
  require_same(all, "processes_per_node", [&](one i) { return number(i.processes_per_node); });
}

}  // namespace tutti::mpi
