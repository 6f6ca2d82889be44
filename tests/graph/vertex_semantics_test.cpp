// SPDX-License-Identifier: Apache-2.0
// Tests the guarantees to a vertex program: when its handlers are called, where messages go, when
// the run ends.

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/graph/vertex_runs.hpp"

namespace {

using namespace tutti;
using graph::host_pin;
using graph::no_pin;
using graph::pin;
using test::graph_of;
using test::run_in;

class Vertex : public testing::TestWithParam<test::way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Vertex, testing::ValuesIn(test::ways()), test::name_of_way);

// A program that sends nothing and wants nothing.
template <class Derived, class Message = std::uint64_t>
struct quiet {
  struct state {
    std::uint64_t steps = 0;
  };
  using edge = graph::nothing;
  using message = Message;
  void init(auto&) const {}
  void send(auto& v, Message&) const { v.ready_to_send(no_pin); }
  void recv(auto&, const Message&, const edge&) const {}
  bool step(auto&) const { return false; }
  bool finish(auto&, Message&) const { return false; }
};

// ---- steps and the end

struct counts_steps : quiet<counts_steps> {
  // The number of steps that vertex 0 wants; the others want none.
  std::uint64_t wanted = 0;
  bool step(auto& v) const {
    EXPECT_EQ(v.time(), v->steps);
    return ++v->steps <= (v.id() == 0 ? wanted : 0);
  }
  bool finish(auto& v, std::uint64_t& m) const {
    m = v->steps;
    EXPECT_EQ(v.time(), v->steps);
    return true;
  }
};

TEST_P(Vertex, StepsAtLeastOnceAndAgainWhileAnybodyWants) {
  const graph::csr g = graph_of(5, {{0, 1}});
  for (const std::uint64_t wanted : {0u, 1u, 7u}) {
    const auto result = run_in(GetParam(), counts_steps{{}, wanted}, g);
    ASSERT_EQ(result.host.size(), 5u);
    for (const auto& m : result.host) EXPECT_EQ(m.content, wanted + 1) << "of vertex " << m.vertex;
    EXPECT_EQ(result.statistics.time, wanted + 1);
    EXPECT_EQ(result.statistics.detections, wanted + 2);
  }
}

// A step that returns false may still request a send, which is sent and received before finish().
struct sends_last : quiet<sends_last> {
  struct state {
    std::uint64_t received = 0, steps = 0;
  };
  bool step(auto& v) const {
    if (v->steps++ == 0) v.ready_to_send(pin(0));
    return false;
  }
  void send(auto& v, std::uint64_t& m) const {
    m = 10 + v.id();
    v.ready_to_send(no_pin);
  }
  void recv(auto& v, const std::uint64_t& m, const edge&) const { v->received += m; }
  bool finish(auto& v, std::uint64_t& m) const {
    m = v->received;
    return true;
  }
};

TEST_P(Vertex, SendsOfALastStepAreReceivedBeforeTheEnd) {
  const auto result = run_in(GetParam(), sends_last{}, graph_of(3, {{0, 1}, {1, 2}, {2, 0}}));
  ASSERT_EQ(result.host.size(), 3u);
  EXPECT_EQ(result.host[0].content, 12u);
  EXPECT_EQ(result.host[1].content, 10u);
  EXPECT_EQ(result.host[2].content, 11u);
  EXPECT_EQ(result.statistics.time, 1u);
}

// Nothing is received while a step is being made: the sums of step k are complete in step k + 1.
struct in_rounds : quiet<in_rounds> {
  struct state {
    std::uint64_t received = 0;
  };
  std::uint64_t rounds = 20;
  void init(auto& v) const { v.ready_to_send(pin(0)); }
  void send(auto& v, std::uint64_t& m) const {
    m = v.time();
    v.ready_to_send(no_pin);
  }
  void recv(auto& v, const std::uint64_t& m, const edge&) const {
    EXPECT_EQ(m, v.time());
    ++v->received;
  }
  bool step(auto& v) const {
    EXPECT_EQ(v->received, (v.time() + 1) * v.in_degree());
    if (v.time() + 1 == rounds) return false;
    v.ready_to_send(pin(0));
    return true;
  }
};

TEST_P(Vertex, StepsAreBarriers) {
  graph::edge_list list;
  for (graph::vertex_t v = 0; v < 50; ++v)
    for (graph::vertex_t k = 1; k <= 7; ++k) list.add(v, (v * k + k) % 50);
  const auto result = run_in(GetParam(), in_rounds{}, graph::from_edges(std::move(list)));
  EXPECT_EQ(result.statistics.time, 20u);
  EXPECT_EQ(result.statistics.sends, 20u * 50);
  EXPECT_EQ(result.statistics.messages(), 20u * 350);
}

// ---- pins

struct on_pins : quiet<on_pins> {
  struct state {
    std::uint64_t received = 0;
  };
  void init(auto& v) const {
    if (v.id() == 0) v.ready_to_send(pin(0));
  }
  // The target of the message was decided before; this call decides the target of the next one.
  void send(auto& v, std::uint64_t& m) const {
    const pin now = v.ready_to_send();
    if (now == pin(0)) {
      m = 1;
      v.ready_to_send(pin(1));
    } else if (now == pin(1)) {
      m = 100;
      v.ready_to_send(host_pin);
    } else {
      EXPECT_EQ(now, host_pin);
      m = 12345;
      v.ready_to_send(no_pin);
    }
  }
  void recv(auto& v, const std::uint64_t& m, const edge&) const { v->received += m; }
  bool finish(auto& v, std::uint64_t& m) const {
    m = v->received;
    return v->received != 0;
  }
};

TEST_P(Vertex, ThePinIsWhatWasWantedBeforeSend) {
  const graph::csr first = graph_of(5, {{0, 1}, {0, 2}}),
                   second = graph_of(5, {{0, 2}, {0, 4}, {0, 4}});
  const std::array pins{graph::edge_set<graph::nothing>{&first, {}},
                        graph::edge_set<graph::nothing>{&second, {}}};
  const auto result = run_in(GetParam(), on_pins{}, std::span(pins));
  ASSERT_EQ(result.host.size(), 4u);
  EXPECT_EQ(result.host[0].content, 12345u);
  EXPECT_EQ(result.host[0].vertex, 0u);
  EXPECT_EQ(result.host[0].time, 0u);
  EXPECT_EQ(result.host[1].content, 1u);
  EXPECT_EQ(result.host[2].content, 101u);
  EXPECT_EQ(result.host[3].content, 200u);
  EXPECT_EQ(result.statistics.sends, 3u);
  EXPECT_EQ(result.statistics.messages(), 5u);
}

// ---- asking, cancelling

// Vertex 0 has an edge to itself: its first message cancels the send that it has requested
// meanwhile.
struct cancels : quiet<cancels> {
  struct state {
    std::uint64_t sent = 0;
  };
  void init(auto& v) const { v.ready_to_send(pin(0)); }
  // The vertex is still ready.
  void send(auto& v, std::uint64_t&) const { ++v->sent; }
  void recv(auto& v, const std::uint64_t&, const edge&) const { v.ready_to_send(no_pin); }
  bool finish(auto& v, std::uint64_t& m) const {
    m = v->sent;
    return true;
  }
};

TEST_P(Vertex, AMessageMayCancelASend) {
  const auto result = run_in(GetParam(), cancels{}, graph_of(3, {{0, 0}, {1, 1}, {1, 1}, {2, 2}}));
  for (const auto& m : result.host) EXPECT_EQ(m.content, 1u) << "of vertex " << m.vertex;
}

struct sends_on : quiet<sends_on> {
  struct state {
    std::uint64_t sent = 0, last = 0;
  };
  static constexpr std::uint64_t times = 1000;
  void init(auto& v) const {
    v.ready_to_send(pin(0));
    v.ready_to_send(pin(0));
  }
  void send(auto& v, std::uint64_t& m) const {
    m = ++v->sent;
    if (v->sent == times) v.ready_to_send(no_pin);
  }
  // Messages arrive in the order in which they were sent.
  void recv(auto& v, const std::uint64_t& m, const edge&) const {
    EXPECT_EQ(m, v->last + 1);
    v->last = m;
  }
  bool finish(auto& v, std::uint64_t& m) const {
    m = v->last;
    return true;
  }
};

TEST_P(Vertex, SendsUntilItWantsNoMoreInOrder) {
  const auto result = run_in(GetParam(), sends_on{}, graph_of(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
  for (const auto& m : result.host) EXPECT_EQ(m.content, sends_on::times);
  EXPECT_EQ(result.statistics.sends, 4 * sends_on::times);
}

// ---- what a vertex knows

struct tells : quiet<tells, std::array<std::uint64_t, 4>> {
  bool finish(auto& v, std::array<std::uint64_t, 4>& m) const {
    m = {v.id(), v.vertices(), v.out_degree(), v.in_degree()};
    return true;
  }
};

TEST_P(Vertex, KnowsItsNumberAndDegrees) {
  const auto result = run_in(GetParam(), tells{}, graph_of(4, {{0, 1}, {0, 1}, {1, 1}, {2, 0}}));
  using four = std::array<std::uint64_t, 4>;
  ASSERT_EQ(result.host.size(), 4u);
  EXPECT_EQ(result.host[0].content, (four{0, 4, 2, 1}));
  EXPECT_EQ(result.host[1].content, (four{1, 4, 1, 3}));
  EXPECT_EQ(result.host[2].content, (four{2, 4, 1, 0}));
  EXPECT_EQ(result.host[3].content, (four{3, 4, 0, 0}));
}

TEST_P(Vertex, GraphsWithoutVerticesOrEdges) {
  const auto none = run_in(GetParam(), counts_steps{{}, 3}, graph_of(0, {}));
  EXPECT_TRUE(none.host.empty());
  EXPECT_EQ(none.statistics.time, 1u);
  const auto one = run_in(GetParam(), counts_steps{{}, 3}, graph_of(1, {}));
  ASSERT_EQ(one.host.size(), 1u);
  EXPECT_EQ(one.host[0].content, 4u);
}

// ---- messages larger than a slot

struct large {
  struct state {
    std::uint64_t sum = 0;
  };
  using edge = std::uint64_t;
  using message = std::array<std::uint64_t, 50>;
  void init(auto& v) const { v.ready_to_send(pin(0)); }
  void send(auto& v, message& m) const {
    std::iota(m.begin(), m.end(), v.id());
    v.ready_to_send(no_pin);
  }
  void recv(auto& v, const message& m, const edge& e) const {
    v->sum += e * std::accumulate(m.begin(), m.end(), std::uint64_t{0});
  }
  bool step(auto&) const { return false; }
  bool finish(auto& v, message& m) const {
    m[49] = v->sum;
    return true;
  }
};

TEST_P(Vertex, LargeMessagesAndEdgesWithValues) {
  graph::edge_list list;
  std::vector<std::uint64_t> values, expected(40);
  for (graph::vertex_t v = 0; v < 40; ++v)
    for (graph::vertex_t k = 0; k < 10; ++k) {
      list.add(v, (v + k * k) % 40);
      values.push_back(v * 10 + k);
      expected[(v + k * k) % 40] += (v * 10 + k) * (50 * v + 49 * 25);
    }
  const graph::csr g = graph::from_edges(std::move(list));
  const graph::edge_set<std::uint64_t> all{&g, values};
  const auto result = run_in(GetParam(), large{}, std::span(&all, 1));
  ASSERT_EQ(result.host.size(), 40u);
  for (const auto& m : result.host) EXPECT_EQ(m.content[49], expected[m.vertex]);
}

}  // namespace
