// SPDX-License-Identifier: Apache-2.0
// Collective calls between nodes in the network (network/): in the kernel's packet path, or by
// engines in RTL. They stand in a library of their own, which the preload loads when
// TUTTI_MPI_NETWORK names a device: so the preload itself needs no libbpf.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::preload {

// What a leader offers the others when a communicator is made. It travels as bytes.
struct network_offer {
  // Increased whenever this struct or network_path changes.
  static constexpr std::uint32_t current_version = 4;
  std::uint32_t version = current_version;
  // 0: the device cannot serve; `why` tells the reason.
  std::uint32_t can_serve = 0;
  // Where the device is; the IP address is in network order.
  std::uint32_t ip = 0;
  std::uint8_t mac[6] = {};
  // 1: the device is that of an engine in RTL.
  std::uint8_t has_engine = 0;
  // Where the search for an identifier begins, by chance: leaders of several communicators may
  // search at the same time. That of the first leader counts.
  std::uint8_t first_identifier = 0;
  // No incarnation that this node has used or seen is larger.
  std::uint32_t incarnation = 0;
  std::uint32_t topology = 0;
  // The key of the first leader becomes that of the communicator.
  std::uint64_t key[2] = {};
  // A bit for each identifier that no communicator of the device has.
  std::uint64_t available[4] = {};
  // Where the cables of an engine lead: the address of the other card, and its port.
  std::uint32_t cable_to[8] = {};
  std::uint32_t cable_there[8] = {};
  char why[200] = {};
};

// The functions of the library. None of them throws.
struct network_path {
  void (*offer)(const char* device_and_topology, network_offer* mine);
  // Starts the communicator on which all offers agree. Returns null, and writes the reason, if that
  // fails. All leaders have started it before one of them calls an episode.
  void* (*open)(const char* device_and_topology, const network_offer* all, unsigned nodes,
                unsigned node, char* why, std::size_t why_bytes);
  // All leaders have left their last episode.
  void (*close)(void* opened);
  // How many values an episode carries at most.
  unsigned (*most_values)(void* opened);
  // Writes which path it is, for people.
  void (*describe)(void* opened, char* text, std::size_t bytes);
  // Writes what happened in the episodes of this node, for people.
  void (*account)(void* opened, char* text, std::size_t bytes);
  // A barrier; with values also their bitwise or. Calls `meanwhile` now and then while it waits.
  // Returns 0; or 1 if the deadline passed (0 is none), with a 1 in `missing` for each node that
  // has not called, a 2 for each that does not answer, and a 3 for each whose engine has sent
  // nothing; or 2 if it failed, and writes the reason.
  int (*episode)(void* opened, std::uint64_t* values, unsigned count, std::uint64_t deadline_ns,
                 unsigned char* missing, void (*meanwhile)(void*), void* state, char* why,
                 std::size_t why_bytes);
};

// The function that the library exports.
inline constexpr const char* network_path_function = "tutti_mpi_network_path";
using find_network_path = const network_path* (*)(std::uint32_t version);

}  // namespace tutti::preload
