// SPDX-License-Identifier: Apache-2.0
// Tests the simulator: the same seed gives the same run, times are those that arithmetic gives, the
// trace is the machine's, and no host is released early whatever is lost.
#include "network/simulate.hpp"

#include <gtest/gtest.h>

#include "network/tests/arrivals.hpp"

namespace {

using namespace tutti;
using namespace tutti::network;

TEST(events, come_in_the_order_of_time_and_of_making) {
  sim::event_queue<int> q;
  q.at(5, 1);
  q.at(3, 2);
  q.at(5, 3);
  EXPECT_EQ(q.take(), 2);
  EXPECT_EQ(q.now(), 3u);
  q.at(1, 4);
  EXPECT_EQ(q.take(), 4) << "a time that is over is now";
  EXPECT_EQ(q.take(), 1);
  EXPECT_EQ(q.take(), 3);
  EXPECT_TRUE(q.empty());
}

class simulated : public testing::TestWithParam<unsigned> {};

TEST_P(simulated, nobody_is_early_and_a_seed_is_a_run) {
  for (const rank_t n : {1u, 2u, 3u, 17u, 60u}) {
    simulation_plan plan;
    plan.topology = GetParam();
    plan.nodes = n;
    plan.episodes = 20;
    plan.jitter = 500;
    plan.imbalance = 2000;
    plan.lose = 0.1;
    const auto a = barrier_simulation(plan).run();
    const auto b = barrier_simulation(plan).run();
    EXPECT_EQ(a.last_in_to_last_out, b.last_in_to_last_out);
    EXPECT_EQ(a.packets, b.packets);
    EXPECT_TRUE(n < 16 || a.lost > 0);
  }
}

TEST_P(simulated, trace_is_that_of_the_machine) {
  for (const rank_t n : {2u, 5u, 8u})
    for (rank_t rank = 0; rank < n; ++rank) {
      const tutti_net_table t = make_table(GetParam(), n, rank);
      const auto arrivals = test::script(t, 30, rank + 1, true);
      simulation_plan plan;
      plan.topology = GetParam();
      plan.nodes = n;
      barrier_simulation s(plan);
      std::vector<std::string> trace;
      s.on_step = [&](rank_t, const tutti_net_table& table, const tutti_net_message& m,
                      const tutti_net_actions& a) {
        trace.push_back(text_of(entry_of(table, a, m.source)));
      };
      for (const test::arrival& a : arrivals)
        s.step(rank, test::message_of(t, a), a.slot == 0 && a.asks == 0);
      EXPECT_EQ(trace, test::machine_trace(t, arrivals));
    }
}

INSTANTIATE_TEST_SUITE_P(all, simulated, testing::Range(first_topology, last_topology + 1),
                         [](const auto& each) { return std::string(topology_names[each.param]); });

// Overhead 0: only the latency counts, by the number of hops behind the last call.
TEST(simulated_times, are_the_hops) {
  const auto hops = [](unsigned topology, rank_t n) {
    simulation_plan plan;
    plan.topology = topology;
    plan.nodes = n;
    plan.episodes = 2;
    plan.overhead = 0;
    plan.late = 100'000;
    return barrier_simulation(plan).run().last_in_to_last_out[1] / plan.latency;
  };
  // The last rank's arrival goes to the head, whose release goes round to the last rank.
  EXPECT_EQ(hops(TUTTI_NET_RING, 8), 8u);
  EXPECT_EQ(hops(TUTTI_NET_STAR, 8), 2u);
  EXPECT_EQ(hops(TUTTI_NET_SWITCH, 8), 2u);
  EXPECT_EQ(hops(TUTTI_NET_BUTTERFLY, 8), 3u);
  EXPECT_EQ(hops(TUTTI_NET_DISSEMINATION, 8), 3u);
  EXPECT_EQ(hops(TUTTI_NET_DISSEMINATION, 1024), 10u);
  EXPECT_EQ(hops(TUTTI_NET_TREE, 1023), 18u);
}

TEST(simulated_refusals, say_why) {
  simulation_plan plan;
  plan.topology = TUTTI_NET_STAR;
  plan.nodes = 1000;
  EXPECT_THROW(barrier_simulation{plan}, std::invalid_argument);
}

// Otherwise the run would not end.
TEST(simulated_refusals, are_for_what_never_ends) {
  simulation_plan plan;
  plan.nodes = 8;
  plan.repeat_after = 0;
  EXPECT_NO_THROW(barrier_simulation{plan}) << "nothing is lost";
  plan.lose = 0.1;
  EXPECT_THROW(barrier_simulation{plan}, std::invalid_argument);
  plan.repeat_after = 1;
  EXPECT_EQ(barrier_simulation(plan).run().last_in_to_last_out.size(), plan.episodes);
  plan.lose = 1;
  EXPECT_THROW(barrier_simulation{plan}, std::invalid_argument);
}

}  // namespace
