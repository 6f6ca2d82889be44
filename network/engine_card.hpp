// SPDX-License-Identifier: Apache-2.0
// The card of an engine in RTL (hardware/innetwork), as a program on its host sees it: the cables
// that it has, and the communicators that its engine executes. One process, the card's driver
// (network/engine/card.cpp), writes the registers; programs ask it over a local socket, whose name
// belongs to the network namespace as the card's device does. What a program has started ends with
// its connection, however the program ends.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "network/discovery.hpp"

namespace tutti::network {

class card_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the driver and programs exchange: a request and its answer, a packet each.
namespace card {

inline constexpr std::uint32_t version = 1;
inline constexpr unsigned ports = 8, rows = TUTTI_NET_ROWS, identifiers = 256;

enum class wish : std::uint32_t { describe, start, state };

struct row {
  std::uint32_t need = 0, send = 0;
};
struct request {
  std::uint32_t of_version = version;
  wish what = wish::describe;
  // To start a communicator: its identity, as a plain packet has it, and its table.
  std::uint32_t communicator = 0, topology = 0, role = 0, incarnation = 0, row_count = 0;
  row table[rows] = {};
};
// Where the cable of a port leads: the address of the other card, in network order, and the port
// there. 0 is no cable.
struct cable {
  std::uint32_t to = 0, there = 0;
};
struct answer {
  std::uint32_t of_version = version;
  // 1: no; `why` tells the reason.
  std::uint32_t is_refused = 0;
  char why[160] = {};
  // The card's own address, and one to which the way leads through it.
  std::uint32_t address = 0, towards = 0;
  std::uint64_t clock_hz = 0;
  // How many more communicators it takes.
  std::uint32_t room = 0, port_count = 0;
  cable cables[ports] = {};
  // A bit for each identifier that no communicator has.
  std::uint64_t available[identifiers / 64] = {};
  // The register STATE of the communicator that this connection has started.
  std::uint64_t state = 0;
};

// The address of the driver's socket.
struct socket_name {
  explicit socket_name(std::string_view device);
  sockaddr_un name{};
  socklen_t length = 0;
};

}  // namespace card

// A card's place in the network: its address, and its cables.
struct card_place {
  std::uint32_t address = 0;
  std::array<card::cable, card::ports> cables{};
};

// The part of a rank in barriers of a topology among cards, in the order of ranks. Returns nothing
// if a rank lacks a cable to a neighbour of the topology.
std::optional<found_plan> plan_on_cables(std::span<const card_place> all, unsigned topology,
                                         rank_t rank);

class engine_card {
 public:
  // Throws card_error if no driver has the device.
  explicit engine_card(std::string device);
  ~engine_card();
  engine_card(const engine_card&) = delete;
  engine_card& operator=(const engine_card&) = delete;

  const std::string& device() const { return device_; }
  const card::answer& description() const { return description_; }

  // The engine executes the plan's table until this object goes.
  void start(const found_plan& plan, std::uint16_t communicator, std::uint32_t incarnation);
  // The neighbours for whose messages the engine waits in this episode, which the host has called.
  // Throws card_error if the driver does not answer, or if the engine has not got the call.
  std::vector<rank_t> missing(std::uint32_t episode);

 private:
  card::answer ask(const card::request& r);

  std::string device_;
  int socket_ = -1;
  card::answer description_;
  found_plan plan_;
  std::vector<engine_row> rows_;
};

}  // namespace tutti::network
