// SPDX-License-Identifier: Apache-2.0
// Tests the machine of boards: its round trips against the paper's formula and the cycle-exact
// model, and that programs have the same results there as anywhere.
#include "sim/boards.hpp"

#include <gtest/gtest.h>

#include <span>
#include <stdexcept>

#include "sim/boards_engine.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/run_alone.hpp"

namespace {

using namespace tutti;
using sim::board_machine;

board_machine boards(std::uint32_t columns, std::uint32_t rows, std::uint32_t threads = 1024) {
  board_machine m;
  m.columns = columns;
  m.rows = rows;
  m.threads = threads;
  return m;
}

double tree_of(board_machine m, double handler) {
  m.detector = sim::idle_detector::clock_tree;
  m.handler = handler;
  return sim::round_trip(m);
}

struct mesh_of_the_paper {
  std::uint32_t columns, rows;
  double detector, tree_16, tree_80, tree_240;
};
// What hardware/detector/README.md prints of the cycle-exact model, whose master is at the origin.
constexpr mesh_of_the_paper exact[] = {{2, 2, 904, 1496, 4288, 11328},
                                       {3, 4, 1804, 2600, 6160, 15120},
                                       {4, 6, 2704, 3704, 8032, 18912},
                                       {6, 8, 3904, 5176, 10528, 23968}};

TEST(Boards, RoundTripsInHardwareAreThoseOfTheFormula) {
  for (const auto& mesh : exact) {
    const double cycles = sim::round_trip(boards(mesh.columns, mesh.rows));
    EXPECT_EQ(cycles, 2 * 150 * (mesh.columns + mesh.rows - 1));
    EXPECT_NEAR(cycles, mesh.detector, 4);
  }
}

TEST(Boards, ClockTreesAreThoseOfTheCycleExactModel) {
  for (const auto& mesh : exact) {
    const board_machine m = boards(mesh.columns, mesh.rows);
    EXPECT_NEAR(tree_of(m, 80) / mesh.tree_80, 1, 0.11);
    EXPECT_NEAR(tree_of(m, 240) / mesh.tree_240, 1, 0.06);
  }
}

TEST(Boards, AChainTakesEachThreadInTurn) {
  board_machine m = boards(1, 1, 16);
  m.fan = 1;
  // 15 ways to and fro, each with a message sent and taken, and the master's link and messages.
  EXPECT_EQ(tree_of(m, 100), 2 * 15 * (200 + 20) + 2 * 100 + 300);
}

TEST(Boards, ALinkTakesOneMessageAfterTheOther) {
  const board_machine m = boards(3, 2, 4);
  sim::board_links links(m);
  // From board 0 to board 5: two links east, one south.
  EXPECT_EQ(links.arrival(0, 20, 1000), 1000u + 20 + 3 * 150);
  EXPECT_EQ(links.arrival(1, 21, 1000), 1000u + 20 + 3 * 150 + 8);
  EXPECT_EQ(links.arrival(0, 3, 1000), 1020u);
  // West and north are other links.
  EXPECT_EQ(links.arrival(20, 0, 1000), 1000u + 20 + 3 * 150);
}

// The queue of the boards gives the same events at the same times as the other one, in the order of
// their making where times are equal.
TEST(Boards, TheQueueForNearEventsKeepsTheOrder) {
  sim::event_queue<int> plain;
  sim::near_event_queue<int> near;
  sim::generator random(7);
  int made = 0;
  const auto add = [&] {
    // Many at the same time, most within the window, some far behind it.
    const std::uint64_t kind = random.below(10);
    const sim::sim_time later = kind < 3   ? random.below(3)
                                : kind < 9 ? random.below(16'000)
                                           : 16'380 + random.below(100'000);
    plain.at(plain.now() + later, made);
    near.at(near.now() + later, made++);
  };
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 300; ++i) add();
    while (!plain.empty()) {
      ASSERT_FALSE(near.empty());
      ASSERT_EQ(near.take(), plain.take());
      ASSERT_EQ(near.now(), plain.now());
      // Up to now() and before it.
      if (random.below(3) == 0) add();
      if (random.below(50) == 0) {
        plain.at(0, made);
        near.at(0, made++);
      }
    }
    EXPECT_TRUE(near.empty());
  }
  EXPECT_GT(made, 6000);
}

TEST(Boards, RefuseWhatCannotBe) {
  board_machine m;
  sim::set_number(m, "handler", 99);
  EXPECT_EQ(m.handler, 99);
  EXPECT_THROW(sim::set_number(m, "handlers", 99), std::invalid_argument);
  EXPECT_THROW(sim::set_number(m, "columns", 0), std::invalid_argument);
  for (const char* const key : {"columns", "fan", "link", "link_gap", "inside", "handler", "step"})
    EXPECT_THROW(sim::set_number(m, key, 2.5), std::invalid_argument) << key;
  sim::set_number(m, "clock_mhz", 240.5);
  EXPECT_EQ(m.clock_mhz, 240.5);
  for (const sim::board_number& n : sim::numbers_of(m)) sim::set_number(m, n.key, n.value);
}

// The distance from vertex 0 in edges, as soon as messages come.
struct hops {
  struct state {
    std::uint32_t distance = ~0u;
  };
  using edge = graph::nothing;
  using message = std::uint32_t;
  using vertex = graph::vertex<hops>;
  void init(vertex& v) const {
    if (v.id() != 0) return;
    v->distance = 0;
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->distance;
    v.ready_to_send(graph::no_pin);
  }
  void recv(vertex& v, const message& m, const edge&) const {
    if (m + 1 >= v->distance) return;
    v->distance = m + 1;
    v.ready_to_send(graph::pin(0));
  }
  bool step(vertex&) const { return false; }
  bool finish(vertex& v, message& m) const {
    m = v->distance;
    return true;
  }
};

// Adds up the numbers of the neighbours, three times.
struct sums {
  struct state {
    std::uint64_t sum = 0;
  };
  using inbox = std::uint64_t;
  using edge = graph::nothing;
  using message = std::uint64_t;
  using vertex = graph::vertex<sums>;
  void init(vertex& v) const {
    v->sum = v.id();
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->sum;
    v.ready_to_send(graph::no_pin);
  }
  void gather(inbox& sum, const message& m, const edge&) const { sum += m; }
  bool step(vertex& v) const {
    v->sum = 3 * v->sum + v.inbox();
    v.inbox() = 0;
    if (v.time() == 2) return false;
    v.ready_to_send(graph::pin(0));
    return true;
  }
  bool finish(vertex& v, message& m) const {
    m = v->sum;
    return true;
  }
};

template <class Program>
void expect_the_same(const Program& program) {
  const graph::csr g = graph::generate("geometric:vertices=600,degree=8");
  const graph::edge_set<graph::nothing> all{&g, {}};
  const auto alone = graph::run_alone(program, g);
  for (const auto& m : {boards(1, 1, 4), boards(2, 3, 16), boards(2, 2, 512)}) {
    const auto there = sim::run_on_boards(program, std::span(&all, 1), m);
    ASSERT_EQ(there.host.size(), alone.host.size());
    for (std::size_t i = 0; i < alone.host.size(); ++i)
      EXPECT_EQ(there.host[i].content, alone.host[i].content);
    EXPECT_EQ(there.statistics.time, alone.statistics.time);
    EXPECT_EQ(there.statistics.detections, alone.statistics.detections);
    const auto again = sim::run_on_boards(program, std::span(&all, 1), m);
    EXPECT_EQ(again.run_seconds, there.run_seconds);
    EXPECT_EQ(again.statistics.messages(), there.statistics.messages());
    // No thread can do its work faster, and detection comes on top.
    const double least = sim::detection(m) * static_cast<double>(there.statistics.detections);
    EXPECT_GT(there.run_seconds, m.seconds(least));
  }
}

TEST(Engine, ResultsAreThoseOfAnyOtherRun) {
  expect_the_same(hops{});
  expect_the_same(sums{});
}

TEST(Engine, OneThreadTakesSoLongForEachMessage) {
  const graph::csr g = graph::generate("geometric:vertices=100,degree=8");
  const graph::edge_set<graph::nothing> all{&g, {}};
  board_machine m = boards(1, 1, 1);
  m.handler = 100;
  m.step = 10;
  m.inside = 0;
  const auto run = sim::run_on_boards(sums{}, std::span(&all, 1), m);
  const auto counts = run.statistics;
  EXPECT_EQ(counts.messages(), 3 * g.edges());
  EXPECT_EQ(counts.local, counts.messages());
  // Each message is sent and taken.
  const double cycles = 2 * 100.0 * static_cast<double>(counts.messages()) + 3 * 10 * 100 +
                        sim::detection(m) * static_cast<double>(counts.detections);
  EXPECT_NEAR(run.run_seconds, m.seconds(cycles), m.seconds(200));
}

}  // namespace
