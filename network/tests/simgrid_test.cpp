// SPDX-License-Identifier: Apache-2.0
// Tests the simulator against SimGrid (Casanova and others 2014): the same nodes with the same
// tables, but SimGrid's clock, queues, hosts and links.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "network/simulate.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;
namespace s4u = simgrid::s4u;

struct packet {
  rank_t from = 0;
  std::uint32_t episode = 0;
  std::uint8_t kind = 0, wanted = 0;
};

// The barriers of a plan, in seconds as SimGrid counts them.
class grid {
 public:
  grid(const simulation_plan& plan, const std::vector<s4u::Host*>& hosts)
      : plan_(plan), last_call_(plan.episodes, 0), last_out_(plan.episodes, 0) {
    static int number = 0;
    name_ = std::to_string(++number) + "_";
    const rank_t all = plan.nodes + (plan.topology == TUTTI_NET_SWITCH ? 1u : 0u);
    for (rank_t r = 0; r < all; ++r) {
      const rank_t rank = r == plan.nodes ? TUTTI_NET_THE_SWITCH : r;
      s4u::Actor::create("node", hosts.at(r), [this, rank] { be_a_node(rank); });
    }
  }

  // ns from the last call to the last release, by episode.
  std::vector<double> times() const {
    std::vector<double> made;
    for (std::size_t i = 0; i < last_call_.size(); ++i)
      made.push_back(1e9 * (last_out_[i] - last_call_[i]));
    return made;
  }

 private:
  s4u::Mailbox* box(rank_t r) const {
    return s4u::Mailbox::by_name(name_ +
                                 std::to_string(r == TUTTI_NET_THE_SWITCH ? plan_.nodes : r));
  }
  void work() const { s4u::this_actor::sleep_for(1e-9 * static_cast<double>(plan_.overhead)); }

  void be_a_node(rank_t rank) {
    const bool is_switch = rank == TUTTI_NET_THE_SWITCH;
    const tutti_net_table table =
        is_switch ? make_switch_table(plan_.nodes) : make_table(plan_.topology, plan_.nodes, rank);
    tutti_net_state state{};
    const std::uint32_t all = plan_.episodes;
    const auto take = [&](const packet& p, bool from_host) {
      work();
      tutti_net_message m;
      tutti_net_compose(&table, nullptr, p.episode, p.kind, rank, &m);
      m.source = p.from;
      m.wanted = p.wanted;
      tutti_net_actions a;
      tutti_net_step(&table, &state, nullptr, &m, nullptr, from_host, &a);
      for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot)
        if (a.send >> slot & 1) {
          work();
          box(table.out[slot].rank)
              ->put_init(new packet{rank, a.episode, table.out[slot].kind, 0}, 1)
              ->detach();
        }
      return static_cast<bool>(a.released);
    };
    s4u::Mailbox* mine = box(rank);
    mine->set_receiver(s4u::Actor::self());
    for (std::uint32_t episode = 0; episode < all; ++episode) {
      bool released = false;
      if (!is_switch) {
        // Packets are taken before the host calls, too.
        const double call =
            s4u::Engine::get_clock() +
            (rank + 1 == plan_.nodes ? 1e-9 * static_cast<double>(plan_.late) : 0.0);
        while (const auto p = next_until(mine, call)) take(*p, false);
        last_call_[episode] = std::max(last_call_[episode], s4u::Engine::get_clock());
        released = take({rank, episode, TUTTI_NET_START, 0}, true);
      }
      while (!released) released = take(*std::unique_ptr<packet>(mine->get<packet>()), false);
      if (!is_switch) last_out_[episode] = std::max(last_out_[episode], s4u::Engine::get_clock());
    }
  }
  // Returns a packet, or null once it is that time.
  static std::unique_ptr<packet> next_until(s4u::Mailbox* mine, double when) {
    const double left = when - s4u::Engine::get_clock();
    if (left <= 0) return nullptr;
    try {
      return std::unique_ptr<packet>(mine->get<packet>(left));
    } catch (const simgrid::TimeoutException&) {
      return nullptr;
    }
  }

  simulation_plan plan_;
  std::string name_;
  std::vector<double> last_call_, last_out_;
};

// Hosts around one middle, half of a packet's way on each side of it. The links never fill.
std::vector<s4u::Host*> star_of_hosts(std::size_t count, sim::sim_time latency) {
  s4u::NetZone* zone = s4u::create_star_zone("zone");
  std::vector<s4u::Host*> hosts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    hosts.push_back(zone->create_host("host" + number, 1e9));
    const s4u::Link* link = zone->create_link("link" + number, 1e18)
                                ->set_latency(1e-9 * static_cast<double>(latency) / 2)
                                ->seal();
    zone->add_route(hosts.back()->get_netpoint(), nullptr, nullptr, nullptr,
                    {s4u::LinkInRoute(link)}, true);
  }
  zone->seal();
  return hosts;
}

TEST(simgrid, has_the_same_times) {
  int count = 1;
  char name[] = "simgrid_test";
  char* arguments[] = {name, nullptr};
  s4u::Engine engine(&count, arguments);
  // Its usual model multiplies latencies as a fit to TCP asks for.
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("contexts/stack-size:64");
  const auto hosts = star_of_hosts(1025, simulation_plan{}.latency);
  std::vector<std::pair<simulation_plan, std::unique_ptr<grid>>> runs;
  for (unsigned topology = first_topology; topology <= last_topology; ++topology)
    for (const rank_t nodes : {2u, 8u, 60u, 1024u}) {
      const bool has_head = topology == TUTTI_NET_STAR || topology == TUTTI_NET_SWITCH;
      if (has_head && nodes > 60) continue;
      for (const sim::sim_time late : {0u, 300'000u}) {
        simulation_plan plan;
        plan.topology = topology;
        plan.nodes = nodes;
        plan.late = late;
        runs.emplace_back(plan, std::make_unique<grid>(plan, hosts));
      }
    }
  engine.run();
  for (const auto& [plan, other] : runs) {
    const auto ours = barrier_simulation(plan).run().last_in_to_last_out;
    const auto theirs = other->times();
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
      EXPECT_NEAR(static_cast<double>(ours[i]), theirs[i], 1)
          << topology_names[plan.topology] << ", " << plan.nodes << " nodes, the last " << plan.late
          << " ns late, episode " << i;
  }
}

}  // namespace
