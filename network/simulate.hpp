// SPDX-License-Identifier: Apache-2.0
// Barriers of up to millions of nodes, simulated: every node executes its table by the state
// machine of the kernel's programs; a cost of the LogP kind stands for the network.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "network/tables.hpp"
#include "sim/events.hpp"

namespace tutti::network {

struct simulation_plan {
  unsigned topology = TUTTI_NET_DISSEMINATION;
  rank_t nodes = 1024;
  std::uint32_t episodes = 3;
  // ns that a node needs for each packet that it receives or sends (one after the other), and that
  // a packet is on its way; up to `jitter` is added to the latter.
  sim::sim_time overhead = 100, latency = 1000, jitter = 0;
  // A host calls again up to so much after its release.
  sim::sim_time imbalance = 0;
  // The last rank calls this much later than the others.
  sim::sim_time late = 0;
  double lose = 0;
  // A host repeats its call after this, twice as long each time.
  sim::sim_time repeat_after = 1'000'000;
  std::uint64_t seed = 1;
};

struct simulated_barrier {
  // ns from the last call to the last release, by episode.
  std::vector<sim::sim_time> last_in_to_last_out;
  std::uint64_t packets = 0, lost = 0, repeated_calls = 0, events = 0;
};

// Throws std::logic_error if a host is released before all have called.
class barrier_simulation {
 public:
  explicit barrier_simulation(const simulation_plan& plan)
      : plan_(plan), random_(plan.seed), nodes_(plan.nodes + (has_switch() ? 1u : 0u)) {
    // A call that is repeated at once would be repeated for ever, and so would one whose packets
    // are all lost.
    if (plan.lose > 0 && plan.repeat_after == 0)
      throw std::invalid_argument("a host repeats its call after 1 ns at least");
    if (!(plan.lose >= 0 && plan.lose < 1))
      throw std::invalid_argument(
          "the part of the packets that are lost must be from 0 to below 1");
    // Refuses what cannot be before anything runs; rank 0 has the most neighbours.
    (void)table_of(0);
    if (has_switch()) switch_table_ = make_switch_table(plan.nodes);
  }

  // Called with what a node does with a message, for traces.
  std::function<void(rank_t, const tutti_net_table&, const tutti_net_message&,
                     const tutti_net_actions&)>
      on_step;

  simulated_barrier run() {
    last_call_.assign(plan_.episodes, 0);
    last_out_.assign(plan_.episodes, 0);
    called_.assign(plan_.episodes, 0);
    for (rank_t r = 0; r < plan_.nodes; ++r) schedule_call(r, 0, 0);
    while (!queue_.empty()) {
      const event e = queue_.take();
      ++result_.events;
      if (e.kind == TUTTI_NET_START)
        call(e);
      else
        receive(e);
    }
    for (std::uint32_t i = 0; i < plan_.episodes; ++i) {
      if (called_[i] != plan_.nodes) throw std::logic_error("a host was never released");
      result_.last_in_to_last_out.push_back(last_out_[i] - last_call_[i]);
    }
    if (released_ != std::uint64_t{plan_.nodes} * plan_.episodes)
      throw std::logic_error("a host was never released");
    return result_;
  }

  // The node's reaction to one message, outside of a run.
  tutti_net_actions step(rank_t rank, const tutti_net_message& m, bool from_host) {
    const tutti_net_table t = table_of(rank);
    tutti_net_actions a;
    tutti_net_step(&t, &nodes_[place(rank)].state, nullptr, &m, nullptr, from_host, &a);
    if (on_step) on_step(rank, t, m, a);
    return a;
  }

 private:
  struct node {
    tutti_net_state state{};
    sim::sim_time busy_until = 0;
  };
  struct event {
    rank_t to = 0, from = 0;
    std::uint32_t episode = 0;
    std::uint8_t kind = 0, wanted = 0;
    // How often this call has been repeated.
    std::uint8_t again = 0;
  };

  bool has_switch() const { return plan_.topology == TUTTI_NET_SWITCH; }
  std::size_t place(rank_t r) const { return r == TUTTI_NET_THE_SWITCH ? plan_.nodes : r; }
  tutti_net_table table_of(rank_t r) const {
    return r == TUTTI_NET_THE_SWITCH ? switch_table_ : make_table(plan_.topology, plan_.nodes, r);
  }

  void schedule_call(rank_t r, std::uint32_t episode, sim::sim_time when) {
    if (plan_.imbalance != 0) when += random_.below(plan_.imbalance);
    if (r + 1 == plan_.nodes) when += plan_.late;
    queue_.at(when, {r, r, episode, TUTTI_NET_START, 0, 0});
  }

  // A node takes packets one after the other.
  sim::sim_time occupied(rank_t r) {
    node& n = nodes_[place(r)];
    n.busy_until = std::max(n.busy_until, queue_.now()) + plan_.overhead;
    return n.busy_until;
  }

  void call(const event& e) {
    if (nodes_[e.to].state.episode != e.episode) return;
    if (e.again == 0) {
      last_call_[e.episode] = std::max(last_call_[e.episode], queue_.now());
      ++called_[e.episode];
    } else {
      ++result_.repeated_calls;
    }
    if (plan_.lose > 0) {
      const std::uint8_t again = static_cast<std::uint8_t>(std::min(e.again + 1, 10));
      queue_.at(queue_.now() + (plan_.repeat_after << e.again),
                {e.to, e.to, e.episode, TUTTI_NET_START, 0, again});
    }
    perform(e, true);
  }

  void receive(const event& e) { perform(e, false); }

  void perform(const event& e, bool from_host) {
    occupied(e.to);
    const tutti_net_table t = table_of(e.to);
    tutti_net_message m;
    tutti_net_compose(&t, nullptr, e.episode, e.kind, e.to, &m);
    m.source = e.from;
    m.wanted = e.wanted;
    tutti_net_actions a;
    tutti_net_step(&t, &nodes_[place(e.to)].state, nullptr, &m, nullptr, from_host, &a);
    if (on_step) on_step(e.to, t, m, a);
    for (unsigned slot = 1; slot < TUTTI_NET_SLOTS; ++slot) {
      if (a.send >> slot & 1) send({t.out[slot].rank, e.to, a.episode, t.out[slot].kind, 0, 0});
      if (a.ask >> slot & 1)
        send({t.in[slot].rank, e.to, a.episode, TUTTI_NET_ASK, t.in[slot].kind, 0});
    }
    if (a.released && e.to != TUTTI_NET_THE_SWITCH) release(e.to, a.episode);
  }

  void send(const event& e) {
    const sim::sim_time out = occupied(e.from);
    ++result_.packets;
    if (plan_.lose > 0 && random_.fraction() < plan_.lose) {
      ++result_.lost;
      return;
    }
    queue_.at(out + plan_.latency + (plan_.jitter != 0 ? random_.below(plan_.jitter) : 0), e);
  }

  void release(rank_t r, std::uint32_t episode) {
    if (called_[episode] != plan_.nodes)
      throw std::logic_error("a host was released before all had called");
    ++released_;
    last_out_[episode] = std::max(last_out_[episode], nodes_[r].busy_until);
    if (episode + 1 < plan_.episodes) schedule_call(r, episode + 1, nodes_[r].busy_until);
  }

  simulation_plan plan_;
  sim::generator random_;
  std::vector<node> nodes_;
  tutti_net_table switch_table_{};
  sim::event_queue<event> queue_;
  std::vector<sim::sim_time> last_call_, last_out_;
  std::vector<rank_t> called_;
  std::uint64_t released_ = 0;
  simulated_barrier result_;
};

}  // namespace tutti::network
