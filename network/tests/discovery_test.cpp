// SPDX-License-Identifier: Apache-2.0
// Tests the discovery on cables in memory: every shape with any numbering agrees in spite of loss,
// and the plans that nodes compute are one barrier.
#include "network/discovery.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <set>

#include "network/tests/cables.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
using namespace tutti::network::test;

class cabled_nodes {
 public:
  explicit cabled_nodes(wiring w, double lose = 0, std::uint64_t seed = 1)
      : wires(std::move(w)), lose_(lose), random_(seed) {
    for (unsigned v = 0; v < wires.nodes; ++v) begin(v);
  }
  void begin(unsigned v, const tutti_net_key& key = {1, 2}) {
    discoverer::settings s;
    s.id = 100 + v;
    s.ports = wires.ports;
    s.ip = 7 + v;
    s.key = key;
    if (nodes.size() <= v) nodes.resize(v + 1);
    nodes[v] = std::make_unique<discoverer>(s);
  }
  void tick() {
    for (unsigned v = 0; v < wires.nodes; ++v)
      if (nodes[v]) nodes[v]->tick(from(v));
    while (!on_way_.empty()) {
      const auto [at, bytes] = on_way_.front();
      on_way_.pop_front();
      if (nodes[at.node]) nodes[at.node]->receive(at.port, bytes, from(at.node));
    }
  }
  // Returns the number of ticks until all present nodes have settled, or 0.
  unsigned settle(unsigned at_most = 200) {
    for (unsigned i = 1; i <= at_most; ++i) {
      tick();
      bool all = true;
      for (const auto& n : nodes) all = all && (!n || n->settled() >= 3);
      if (all) return i;
    }
    return 0;
  }

  wiring wires;
  std::vector<std::unique_ptr<discoverer>> nodes;

 private:
  discoverer::output from(unsigned v) {
    return [this, v](unsigned port, std::span<const std::uint8_t> bytes) {
      cable_end there;
      if (!wires.other_end({v, port}, there)) return;
      if (std::uniform_real_distribution<double>()(random_) < lose_) return;
      on_way_.push_back({there, {bytes.begin(), bytes.end()}});
    };
  }
  double lose_;
  std::mt19937_64 random_;
  std::deque<std::pair<cable_end, std::vector<std::uint8_t>>> on_way_;
};

// Executes the nodes' plans on the cables: no host is released before all have called.
void expect_barriers(const cabled_nodes& net, const std::vector<found_plan>& plans,
                     std::uint64_t seed) {
  const std::size_t n = plans.size();
  struct packet {
    cable_end at;
    tutti_net_message m;
  };
  std::mt19937_64 random(seed);
  std::vector<tutti_net_state> states(n);
  std::vector<unsigned> called(n, 0), released(n, 0);
  std::vector<packet> on_way;
  std::map<node_id, unsigned> number;
  for (unsigned v = 0; v < n; ++v) number[100 + v] = v;
  const auto act = [&](unsigned v, const tutti_net_actions& a) {
    for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot) {
      if ((a.send >> slot & 1) == 0) continue;
      const tutti_net_link& to = plans[v].table.out[slot];
      packet p;
      tutti_net_compose(&plans[v].table, nullptr, a.episode, to.kind, to.rank, &p.m);
      // The neighbour is at the other end of the port that the plan names.
      ASSERT_TRUE(net.wires.other_end({v, plans[v].port_out.at(to.rank)}, p.at));
      ASSERT_EQ(p.at.node, number.at(plans[v].nodes[to.rank]));
      ASSERT_EQ(p.at.port, plans[p.at.node].port_in.at(plans[v].rank));
      on_way.push_back(p);
    }
    if (!a.released) return;
    ++released[v];
    for (const unsigned calls : called) ASSERT_GE(calls, released[v]) << "released early";
  };
  for (unsigned step = 0; std::ranges::min(released) < 20; ++step) {
    ASSERT_LT(step, 200'000u) << "nobody is released";
    tutti_net_actions a;
    const auto v = static_cast<unsigned>(random() % n);
    if (random() % 2 == 0 && called[v] == released[v]) {
      tutti_net_message m;
      tutti_net_compose(&plans[v].table, nullptr, called[v], TUTTI_NET_START, plans[v].rank, &m);
      ++called[v];
      tutti_net_step(&plans[v].table, &states[v], nullptr, &m, nullptr, 1, &a);
      act(v, a);
    } else if (!on_way.empty()) {
      const std::size_t which = random() % on_way.size();
      const packet p = on_way[which];
      on_way.erase(on_way.begin() + static_cast<std::ptrdiff_t>(which));
      tutti_net_step(&plans[p.at.node].table, &states[p.at.node], nullptr, &p.m, nullptr, 0, &a);
      act(p.at.node, a);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::vector<found_plan> plans_of(const cabled_nodes& net, unsigned wish = 0) {
  std::vector<found_plan> plans;
  std::set<rank_t> ranks;
  for (unsigned v = 0; v < net.wires.nodes; ++v) {
    auto plan = plan_of(net.nodes[v]->network(), 100 + v, wish);
    EXPECT_TRUE(plan) << "node " << v << " has no plan";
    if (!plan) return {};
    EXPECT_EQ(plan->nodes[plan->rank], 100 + v);
    ranks.insert(plan->rank);
    plans.push_back(std::move(*plan));
    EXPECT_EQ(plans.back().nodes, plans.front().nodes);
    EXPECT_EQ(plans.back().topology, plans.front().topology);
  }
  EXPECT_EQ(ranks.size(), net.wires.nodes);
  return plans;
}

struct shape_case {
  const char* shape;
  unsigned nodes;
  unsigned topology;
  const char* found;
};
class shapes : public testing::TestWithParam<shape_case> {};

TEST_P(shapes, are_recognised_whatever_the_numbers_of_nodes_and_ports) {
  const shape_case c = GetParam();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cabled_nodes net(wired(c.shape, c.nodes, seed), seed % 2 == 0 ? 0.2 : 0, seed);
    ASSERT_NE(net.settle(), 0u) << "they do not agree";
    const auto plans = plans_of(net);
    ASSERT_EQ(plans.size(), c.nodes);
    EXPECT_EQ(plans[0].topology, c.topology) << plans[0].shape;
    EXPECT_EQ(plans[0].shape, c.found);
    expect_barriers(net, plans, seed);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, shapes,
    testing::Values(shape_case{"ring", 2, TUTTI_NET_RING, "ring"},
                    shape_case{"ring", 3, TUTTI_NET_RING, "ring"},
                    shape_case{"ring", 7, TUTTI_NET_RING, "ring"},
                    shape_case{"star", 5, TUTTI_NET_STAR, "star"},
                    shape_case{"tree", 2, TUTTI_NET_TREE, "tree"},
                    shape_case{"tree", 7, TUTTI_NET_TREE, "tree"},
                    shape_case{"tree", 12, TUTTI_NET_TREE, "tree"},
                    shape_case{"line", 6, TUTTI_NET_TREE, "tree"},
                    shape_case{"butterfly", 4, TUTTI_NET_BUTTERFLY, "butterfly"},
                    shape_case{"butterfly", 8, TUTTI_NET_BUTTERFLY, "butterfly"},
                    shape_case{"butterfly", 16, TUTTI_NET_BUTTERFLY, "butterfly"},
                    shape_case{"graph", 9, TUTTI_NET_TREE, "graph"}),
    [](const auto& each) {
      return each.param.shape + std::string("_") + std::to_string(each.param.nodes);
    });

TEST(discovery, root_of_a_tree_is_in_its_middle) {
  cabled_nodes net(wired("line", 7, 5));
  ASSERT_NE(net.settle(), 0u);
  const auto plans = plans_of(net);
  // From the middle of a line of seven nobody is farther than three cables: arrivals come up in
  // three rounds.
  const node_id root = plans[0].nodes[0];
  std::map<unsigned, unsigned> far{{static_cast<unsigned>(root - 100), 0}};
  for (unsigned round = 0; round < 7; ++round)
    for (const auto& [a, b] : net.wires.cables)
      for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}})
        if (far.contains(from.node)) far.try_emplace(to.node, far[from.node] + 1);
  for (const auto& [node, distance] : far) EXPECT_LE(distance, 3u) << node;
}

TEST(discovery, wishes_are_granted_if_the_network_can) {
  cabled_nodes net(wired("butterfly", 4, 3));
  ASSERT_NE(net.settle(), 0u);
  for (const unsigned wish : {TUTTI_NET_RING, TUTTI_NET_TREE, TUTTI_NET_BUTTERFLY}) {
    const auto plans = plans_of(net, wish);
    ASSERT_EQ(plans.size(), 4u);
    EXPECT_EQ(plans[0].topology, wish);
    expect_barriers(net, plans, wish);
  }
  EXPECT_THROW(plan_of(net.nodes[0]->network(), 100, TUTTI_NET_STAR), std::invalid_argument);
}

TEST(discovery, a_node_that_goes_and_one_that_comes_change_the_plan) {
  cabled_nodes net(wired("star", 5, 2));
  ASSERT_NE(net.settle(), 0u);
  const node_id centre = plans_of(net)[0].nodes[0];
  unsigned leaf = 0;
  while (100 + leaf == centre) ++leaf;
  net.nodes[leaf].reset();
  ASSERT_NE(net.settle(), 0u);
  for (int i = 0; i < 12; ++i) net.tick();
  ASSERT_NE(net.settle(), 0u);
  for (const auto& node : net.nodes)
    if (node) {
      EXPECT_EQ(node->network().size(), 4u);
    }
  // It comes back, and counts its reports from the beginning.
  net.begin(leaf);
  for (int i = 0; i < 12; ++i) net.tick();
  ASSERT_NE(net.settle(), 0u);
  EXPECT_EQ(plans_of(net).size(), 5u);
}

TEST(discovery, packets_with_another_key_and_damaged_ones_do_not_count) {
  cabled_nodes net(wired("line", 3, 1));
  unsigned end = 0;
  for (unsigned v = 0; v < 3; ++v) {
    cable_end there;
    unsigned cables = 0;
    for (unsigned p = 0; p < net.wires.ports; ++p) cables += net.wires.other_end({v, p}, there);
    if (cables == 1) end = v;
  }
  net.begin(end, {1, 3});
  ASSERT_NE(net.settle(), 0u);
  EXPECT_EQ(net.nodes[end]->network().size(), 1u);
  EXPECT_EQ(net.nodes[(end + 1) % 3]->network().size(), 2u);

  // Any changed bit and any cut.
  discoverer::settings s;
  s.id = 1;
  discoverer one(s);
  s.id = 2;
  discoverer two(s);
  std::vector<std::vector<std::uint8_t>> sent;
  const auto keep = [&](unsigned, std::span<const std::uint8_t> p) {
    sent.emplace_back(p.begin(), p.end());
  };
  const auto nowhere = [](unsigned, std::span<const std::uint8_t>) {};
  one.tick(keep);
  for (const auto& packet : sent) {
    for (std::size_t bit = 0; bit < 8 * packet.size(); ++bit) {
      auto damaged = packet;
      damaged[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      two.receive(0, damaged, nowhere);
    }
    for (std::size_t bytes = 0; bytes < packet.size(); ++bytes)
      two.receive(0, std::span(packet).first(bytes), nowhere);
  }
  EXPECT_EQ(two.network().size(), 1u);
  for (const auto& packet : sent) two.receive(0, packet, nowhere);
  EXPECT_EQ(two.network().size(), 2u);
}

// Returns nodes on one switch after some ticks.
std::vector<std::unique_ptr<discoverer>> nodes_on_one_switch(unsigned n) {
  std::vector<std::unique_ptr<discoverer>> nodes;
  std::deque<std::pair<unsigned, std::vector<std::uint8_t>>> on_way;
  for (unsigned v = 0; v < n; ++v) {
    discoverer::settings s;
    s.id = n - v;
    s.ip = v;
    nodes.push_back(std::make_unique<discoverer>(s));
  }
  const auto from = [&](unsigned v) {
    return [&, v](unsigned, std::span<const std::uint8_t> p) {
      on_way.push_back({v, {p.begin(), p.end()}});
    };
  };
  for (int tick = 0; tick < 8; ++tick) {
    for (unsigned v = 0; v < n; ++v) nodes[v]->tick(from(v));
    while (!on_way.empty()) {
      const auto [by, p] = on_way.front();
      on_way.pop_front();
      for (unsigned v = 0; v < n; ++v)
        if (v != by) nodes[v]->receive(0, p, from(v));
    }
  }
  return nodes;
}

TEST(discovery, more_nodes_on_one_switch_than_a_report_has_room_for_do_not_agree) {
  constexpr unsigned most = discoverer::most_neighbours + 1;
  for (const auto& node : nodes_on_one_switch(most)) EXPECT_GE(node->settled(), 3u);
  for (const auto& node : nodes_on_one_switch(most + 1)) {
    EXPECT_FALSE(node->agreed());
    EXPECT_TRUE(node->is_crowded());
  }
}

TEST(discovery, nodes_on_one_switch_are_a_segment) {
  constexpr unsigned n = 6;
  const auto nodes = nodes_on_one_switch(n);
  for (unsigned v = 0; v < n; ++v) {
    EXPECT_GE(nodes[v]->settled(), 3u);
    const auto plan = plan_of(nodes[v]->network(), n - v);
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->shape, "segment");
    EXPECT_EQ(plan->topology, unsigned{TUTTI_NET_STAR});
    // The lowest address is the root.
    EXPECT_EQ(plan->rank, n - 1 - v);
    EXPECT_EQ(plan_of(nodes[v]->network(), n - v, TUTTI_NET_DISSEMINATION)->topology,
              unsigned{TUTTI_NET_DISSEMINATION});
  }
}

}  // namespace
