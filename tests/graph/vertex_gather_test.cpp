// SPDX-License-Identifier: Apache-2.0
// Programs that gather: what has arrived is in the inbox when step() and finish() are called, the
// same as if recv() had put it there, whether all vertices send, some, none, or one of them twice.

#include <array>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/graph/sums_program.hpp"
#include "tests/graph/vertex_runs.hpp"
#include "tutti/graph/generate.hpp"

namespace {

using namespace tutti;
using graph::host_pin;
using graph::no_pin;
using graph::pin;
using graph::vertex_t;
using test::sums_by_gather;
using test::sums_by_recv;

class Gather : public testing::TestWithParam<test::way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Gather, testing::ValuesIn(test::ways()), test::name_of_way);

static_assert(graph::detail::gathers_by_vertex<sums_by_gather<graph::nothing>>);
static_assert(!graph::detail::gathers_by_vertex<sums_by_gather<int>>);

graph::csr random_graph(std::mt19937& random, vertex_t n, std::size_t edges) {
  graph::edge_list list;
  for (std::size_t i = 0; i < edges; ++i)
    list.add(static_cast<vertex_t>(random() % n), static_cast<vertex_t>(random() % n));
  list.vertices = n;
  return graph::from_edges(std::move(list));
}

template <class Edge>
void expect_same(const test::way& how, std::span<const graph::edge_set<Edge>> pins,
                 std::uint64_t one_in, bool twice = false) {
  const auto expected = graph::run_alone(sums_by_recv<Edge>{{6, one_in, twice}}, pins);
  const auto got = test::run_in(how, sums_by_gather<Edge>{{6, one_in, twice}}, pins);
  ASSERT_EQ(got.host.size(), expected.host.size());
  for (std::size_t i = 0; i < got.host.size(); ++i)
    EXPECT_EQ(got.host[i].content, expected.host[i].content)
        << "of vertex " << got.host[i].vertex << ", one in " << one_in;
  EXPECT_EQ(got.statistics.messages(), expected.statistics.messages());
  EXPECT_EQ(got.statistics.sends, expected.statistics.sends);
}

TEST_P(Gather, IsWhatRecvWouldHaveAdded) {
  std::mt19937 random(3);
  const graph::csr a = random_graph(random, 70, 500), b = random_graph(random, 70, 40);
  const std::array pins{graph::edge_set<graph::nothing>{&a, {}},
                        graph::edge_set<graph::nothing>{&b, {}}};
  const std::array only{graph::edge_set<graph::nothing>{&a, {}}};
  for (const std::uint64_t one_in : {1u, 3u, 69u}) {
    expect_same<graph::nothing>(GetParam(), pins, one_in);
    expect_same<graph::nothing>(GetParam(), pins, one_in, true);
  }
  sums_by_gather<graph::nothing> once{{1, 1}};
  sums_by_recv<graph::nothing> same{{1, 1}};
  const auto got = test::run_in(GetParam(), once, std::span(only));
  const auto expected =
      graph::run_alone(same, std::span<const graph::edge_set<graph::nothing>>(only));
  for (std::size_t i = 0; i < got.host.size(); ++i)
    EXPECT_EQ(got.host[i].content, expected.host[i].content);
}

TEST_P(Gather, ReadsWhatEdgesCarry) {
  std::mt19937 random(4);
  const graph::csr a = random_graph(random, 50, 300), b = random_graph(random, 50, 30);
  std::vector<int> of_a(a.edges()), of_b(b.edges());
  for (int& value : of_a) value = static_cast<int>(random() % 9);
  for (int& value : of_b) value = static_cast<int>(random() % 9);
  const std::array pins{graph::edge_set<int>{&a, of_a}, graph::edge_set<int>{&b, of_b}};
  for (const std::uint64_t one_in : {1u, 4u}) expect_same<int>(GetParam(), pins, one_in);
}

// A vertex that stays ready sends again before all participants are idle; both messages arrive, in
// their order.
struct sends_twice {
  struct state {
    std::uint64_t sent = 0;
  };
  using edge = graph::nothing;
  using message = std::uint64_t;
  using inbox = std::uint64_t;
  void init(auto& v) const { v.ready_to_send(pin(0)); }
  void send(auto& v, message& m) const {
    m = ++v->sent;
    if (v->sent == 2) v.ready_to_send(no_pin);
  }
  void gather(inbox& digits, const message& m, const edge&) const { digits = 10 * digits + m; }
  bool step(auto&) const { return false; }
  bool finish(auto& v, message& m) const {
    m = v.inbox();
    return true;
  }
};

TEST_P(Gather, TakesBothMessagesOfAVertexThatSendsTwice) {
  const graph::csr ring = graph::generate("ring:vertices=41,directed=1");
  const auto result = test::run_in(GetParam(), sends_twice{}, ring);
  ASSERT_EQ(result.host.size(), 41u);
  for (const auto& m : result.host) EXPECT_EQ(m.content, 12u) << "of vertex " << m.vertex;
}

// A vertex sends right after its step, while others have not yet made theirs. Neither sees that:
// a send has the time after the step, and an inbox what was sent before.
struct tells_its_time {
  struct state {
    std::uint64_t seen = 0;
  };
  using edge = graph::nothing;
  using message = std::uint64_t;
  using inbox = std::uint64_t;
  graph::pin where = pin(0);
  void init(auto& v) const { v.ready_to_send(where); }
  void send(auto& v, message& m) const {
    m = v.time();
    v.ready_to_send(no_pin);
  }
  void gather(inbox& newest, const message& m, const edge&) const { newest = m + 1; }
  bool step(auto& v) const {
    v->seen = 10 * v->seen + v.inbox();
    if (v.time() < 3) v.ready_to_send(where);
    return v.time() < 3;
  }
  bool finish(auto& v, message& m) const {
    m = v->seen;
    return true;
  }
};

TEST_P(Gather, SendsAtTheTimeAfterTheStep) {
  const graph::csr ring = graph::generate("ring:vertices=300,directed=1");
  const auto result = test::run_in(GetParam(), tells_its_time{}, ring);
  ASSERT_EQ(result.host.size(), 300u);
  for (const auto& m : result.host) EXPECT_EQ(m.content, 1234u) << "of vertex " << m.vertex;
  EXPECT_EQ(result.statistics.sends, 4 * 300u);
  EXPECT_EQ(result.statistics.messages(), 4 * 300u);
}

TEST_P(Gather, TellsTheHostTheTimeOfASend) {
  const graph::csr ring = graph::generate("ring:vertices=300,directed=1");
  const auto result = test::run_in(GetParam(), tells_its_time{host_pin}, ring);
  ASSERT_EQ(result.host.size(), 5 * 300u);
  for (std::size_t i = 0; i < 4 * 300; ++i) {
    EXPECT_EQ(result.host[i].time, i / 300);
    EXPECT_EQ(result.host[i].content, i / 300);
    EXPECT_EQ(result.host[i].vertex, i % 300);
  }
}

// Misuse: recv() beside gather() would never be called, and a vertex of a program without an inbox
// has none.
struct has_both : sends_twice {
  void recv(auto&, const message&, const edge&) const {}
};
static_assert(graph::vertex_program<sends_twice>);
static_assert(!graph::vertex_program<has_both>);

template <class Program>
concept has_inbox = requires(graph::vertex<Program>& v) {
  v.inbox();
};
static_assert(has_inbox<sends_twice>);
static_assert(!has_inbox<sums_by_recv<int>>);

}  // namespace
