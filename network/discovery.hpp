// SPDX-License-Identifier: Apache-2.0
// Discovery of the network: nodes find out which nodes there are and how they are connected, agree
// on that, and each computes its own rank, role and table. No node is configured, and the root is
// where the schedule is fastest.
//
// Every node says on each of its ports who it is (a greeting, which nobody passes on). What it
// hears makes its links, and it tells all nodes these (a report, which every node passes on through
// its other ports). Reports have sequence numbers; they are sent again and again, so loss only
// delays. A report also has a digest of all links that its node knows: nodes agree when all digests
// are equal and every link is known from both of its ends. A node that is not heard for a while is
// gone, and the others agree anew.
//
// A port may be a cable to one node, as a NetFPGA's, or lead to a switch with many.
//
// The class has no I/O and no clock, so tests run it on cables of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network/tables.hpp"

namespace tutti::network {

// The address of a node, by which nodes are told apart; the MAC address of its first port.
using node_id = std::uint64_t;

struct found_link {
  unsigned port = 0;
  node_id to = 0;
  // The port at the other end.
  unsigned there = 0;

  friend auto operator<=>(const found_link&, const found_link&) = default;
};

struct found_node {
  // Where the node's barrier packets go to.
  std::uint32_t ip = 0;
  std::uint8_t mac[6] = {};
  // Sorted.
  std::vector<found_link> links;
};

// The nodes of a network and their links, by address.
using found_network = std::map<node_id, found_node>;

class discoverer {
 public:
  struct settings {
    node_id id = 0;
    unsigned ports = 1;
    std::uint32_t ip = 0;
    std::uint8_t mac[6] = {};
    // Packets with another key do not count.
    tutti_net_key key{0, 0};
    // A neighbour that has not greeted for so many ticks is gone. Reports come over many cables,
    // each of which may lose them, so they stay for longer; a node to which no link leads does not
    // count.
    unsigned patience = 8;
    // Larger than in an earlier run of this node, or the others wait until they have forgotten it.
    std::uint32_t first_sequence = 0;
  };
  // The links that fit in a report.
  static constexpr std::size_t most_neighbours = 112;
  // Sends a packet out of a port; it has at most 1,400 bytes.
  using output = std::function<void(unsigned port, std::span<const std::uint8_t>)>;

  explicit discoverer(const settings& with) : with_(with), sequence_(with.first_sequence) {}

  // Some time has passed, the same at all nodes: greets, and reports.
  void tick(const output& out);
  // A packet has come in at a port. Others than this class's are ignored.
  void receive(unsigned port, std::span<const std::uint8_t> packet, const output& out);

  // The nodes to which links lead from this one.
  found_network network() const;
  // True if more nodes than most_neighbours have greeted this one lately.
  bool is_crowded() const { return refused_at_ && now_ - *refused_at_ <= with_.patience; }
  // True if all nodes of the network know the same, and every link from both ends. One that is
  // crowded does not agree.
  bool agreed() const;
  // For how many ticks all have agreed on the same. One that is alone agrees with itself: wait for
  // some, or for a number of nodes.
  unsigned settled() const { return settled_; }

 private:
  struct heard {
    found_link link;
    std::uint64_t tick = 0;
  };
  struct report {
    std::uint32_t sequence = 0;
    std::uint64_t digest = 0;
    found_node node;
    std::uint64_t tick = 0;
  };

  std::vector<std::uint8_t> written(node_id origin, const report& r) const;
  std::uint64_t digest() const;
  void report_links(const output& out);

  settings with_;
  std::uint64_t now_ = 0;
  // When a neighbour was refused last, because there were so many.
  std::optional<std::uint64_t> refused_at_;
  std::uint32_t sequence_ = 0;
  unsigned settled_ = 0;
  std::uint64_t last_digest_ = 0;
  // By port and address.
  std::map<std::pair<unsigned, node_id>, heard> neighbours_;
  // Those of the other nodes.
  std::map<node_id, report> reports_;
};

// What a node shall do in the barriers of a network.
struct found_plan {
  unsigned topology = 0;
  // The shape of the network, for people: "ring", "star", "tree", "butterfly", "segment", "graph".
  std::string shape;
  rank_t rank = 0;
  // The nodes by rank.
  std::vector<node_id> nodes;
  // The table of this node. In a tree that is no binary one, it is not make_table's.
  tutti_net_table table{};
  // The port that leads to each neighbour, by its rank. Two nodes with two cables between them are
  // a ring: what goes out takes the first, what comes in comes by the second.
  std::map<rank_t, unsigned> port_out, port_in;
};

// A row of the engine's table (hardware/innetwork).
struct engine_row {
  std::uint32_t need = 0, send = 0;
};
// The plan as the table of an engine with so many ports.
std::vector<engine_row> engine_rows(const found_plan& plan, unsigned ports);

// Computes a node's part. All nodes that agree on the network come to plans that fit each other.
// `wish` is a topology, or 0 for the one that suits the network best. Returns nothing if the
// network is not connected; throws std::invalid_argument if it cannot have the topology.
std::optional<found_plan> plan_of(const found_network& all, node_id me, unsigned wish = 0);

}  // namespace tutti::network
