// SPDX-License-Identifier: Apache-2.0
// Messages that are combined before they are sent: the same results, on threads, virtual ranks and
// shares; fewer contents where many edges lead to few vertices; and what is refused.

#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph_apps/programs/breadth_first.hpp"
#include "graph_apps/programs/breadth_first_sync.hpp"
#include "graph_apps/programs/components.hpp"
#include "graph_apps/programs/components_sync.hpp"
#include "graph_apps/programs/pagerank.hpp"
#include "graph_apps/programs/shortest_paths.hpp"
#include "graph_apps/programs/shortest_paths_sync.hpp"
#include "tests/graph/share_runs.hpp"
#include "tests/graph/sums_program.hpp"
#include "tests/graph/vertex_runs.hpp"
#include "tests/support/refusal.hpp"
#include "tutti/graph/generate.hpp"

namespace {

using namespace tutti;
using graph::no_pin;
using graph::pin;
using graph::vertex_t;

class Combine : public testing::TestWithParam<test::way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Combine, testing::ValuesIn(test::ways()), test::name_of_way);

graph::engine_options combining() {
  graph::engine_options engine;
  engine.combine = true;
  return engine;
}

// Sums whose messages may be added up on their way.
template <class Sums>
struct combined : Sums {
  using message = typename Sums::message;
  message along(const message& m, const typename Sums::edge& e) const {
    return m * Sums::factor(e);
  }
  void combine(message& kept, const message& more) const { kept += more; }
};
template <class Edge>
using by_recv = combined<test::sums_by_recv<Edge>>;
template <class Edge>
using by_gather = combined<test::sums_by_gather<Edge>>;
static_assert(graph::combining_program<by_recv<int>>);
static_assert(graph::combining_program<by_gather<graph::nothing>>);

// Edges with values need along().
struct cannot_cross : by_recv<int> {
  void along() const {}
};
static_assert(graph::vertex_program<cannot_cross>);
static_assert(!graph::combining_program<cannot_cross>);

// Most edges lead to a few vertices.
graph::csr skewed_graph(std::mt19937& random, vertex_t n, std::size_t edges) {
  graph::edge_list list;
  for (std::size_t i = 0; i < edges; ++i) {
    const auto to = static_cast<vertex_t>(random() % (i % 4 == 0 ? n : 5));
    list.add(static_cast<vertex_t>(random() % n), to);
  }
  list.vertices = n;
  return graph::from_edges(std::move(list));
}

template <class Program>
void expect_same(const test::way& how,
                 std::span<const graph::edge_set<typename Program::edge>> pins,
                 const Program& program) {
  const auto expected = graph::run_alone(program, pins);
  const auto got = test::run_in(how, program, pins, combining());
  ASSERT_EQ(got.host.size(), expected.host.size());
  for (std::size_t i = 0; i < got.host.size(); ++i)
    EXPECT_EQ(got.host[i].content, expected.host[i].content)
        << "of vertex " << got.host[i].vertex << ", one in " << program.one_in;
  EXPECT_EQ(got.statistics.messages(), expected.statistics.messages());
  EXPECT_EQ(got.statistics.sends, expected.statistics.sends);
  EXPECT_LE(got.statistics.combined_packets, got.statistics.packets);
  EXPECT_LE(got.statistics.combined_packets, got.statistics.combined);
  if (how.threads * std::max<rank_t>(how.ranks, 1) > 1) {
    EXPECT_GT(got.statistics.combined, 0u);
  }
}

TEST_P(Combine, GivesTheSameSums) {
  std::mt19937 random(5);
  const graph::csr a = skewed_graph(random, 70, 900), b = skewed_graph(random, 70, 80);
  const std::array pins{graph::edge_set<graph::nothing>{&a, {}},
                        graph::edge_set<graph::nothing>{&b, {}}};
  std::vector<int> of_a(a.edges()), of_b(b.edges());
  for (int& value : of_a) value = static_cast<int>(random() % 9);
  for (int& value : of_b) value = static_cast<int>(random() % 9);
  const std::array valued{graph::edge_set<int>{&a, of_a}, graph::edge_set<int>{&b, of_b}};
  for (const std::uint64_t one_in : {1u, 3u})
    for (const bool twice : {false, true}) {
      expect_same(GetParam(), pins, by_recv<graph::nothing>{{{6, one_in, twice}}});
      expect_same(GetParam(), pins, by_gather<graph::nothing>{{{6, one_in, twice}}});
      expect_same(GetParam(), valued, by_recv<int>{{{6, one_in, twice}}});
      expect_same(GetParam(), valued, by_gather<int>{{{6, one_in, twice}}});
    }
}

template <class Program>
void expect_same_application(const test::way& how, const Program& program,
                             const graph::csr& graph) {
  const auto expected = graph::run_alone(program, graph);
  const auto got = test::run_in(how, program, graph, combining());
  ASSERT_EQ(got.host.size(), expected.host.size());
  for (std::size_t i = 0; i < got.host.size(); ++i) {
    if constexpr (requires { got.host[i].content.parent; }) {
      EXPECT_EQ(got.host[i].content.distance, expected.host[i].content.distance) << i;
      EXPECT_EQ(got.host[i].content.parent, expected.host[i].content.parent) << i;
    } else {
      EXPECT_EQ(got.host[i].content, expected.host[i].content) << "of vertex " << i;
    }
  }
}

TEST_P(Combine, GivesTheSameResultsOfApplications) {
  for (const std::string rule :
       {"kron:scale=8,degree=6", "uniform:vertices=300,degree=4,symmetric=0,weights=integer",
        "star:vertices=90", "geometric:vertices=300,degree=6,weights=real"}) {
    using namespace graph_apps;
    const graph::csr g = graph::generate(rule);
    const double n = g.vertices;
    SCOPED_TRACE(rule);
    expect_same_application(GetParam(),
                            pagerank{9, share_of(0.85), share_of(1 / n), share_of(0.15 / n), 0}, g);
    expect_same_application(GetParam(), shortest_paths{1}, g);
    expect_same_application(GetParam(), shortest_paths_sync{1}, g);
    expect_same_application(GetParam(), breadth_first{1}, g);
    expect_same_application(GetParam(), breadth_first_sync{1}, g);
    expect_same_application(GetParam(), components{}, g);
    expect_same_application(GetParam(), components_sync{}, g);
  }
}

// A thousand vertices, all of which have edges to the same three. Without combining each of them
// sends a content to each other participant that has one of the three.
TEST(CombinedMessages, AreFewer) {
  graph::edge_list list;
  for (vertex_t v = 0; v < 1000; ++v)
    for (const vertex_t to : {0u, 1u, 999u}) list.add(v, to);
  const graph::csr g = graph::from_edges(std::move(list));
  const graph_apps::pagerank program{5, graph_apps::share_of(0.85), graph_apps::share_of(0.001),
                                     graph_apps::share_of(0.00015), 0};
  graph::run_options options{.threads = 4, .partition = "blocks"};
  const auto apart = graph::run(program, g, options);
  options.engine.combine = true;
  const auto combined = graph::run(program, g, options);
  // Participants 0 and 3 have the three vertices; the others have 250 each.
  EXPECT_EQ(apart.statistics.packets, 5u * (750 + 750));
  // Two vertices of participant 0 and one of participant 3, for three senders each.
  EXPECT_EQ(combined.statistics.packets, 5u * (3 * 2 + 3 * 1));
  EXPECT_EQ(combined.statistics.combined_packets, combined.statistics.packets);
  EXPECT_EQ(combined.statistics.combined, 5u * (750 * 2 + 750));
  EXPECT_EQ(combined.statistics.messages(), apart.statistics.messages());
}

// If all vertices send, the choice never makes more contents.
TEST(CombinedMessages, AreNeverMoreIfAllSend) {
  for (const std::string rule :
       {"kron:scale=9,degree=4", "uniform:vertices=400,degree=3", "ring:vertices=50",
        "complete:vertices=30", "star:vertices=80", "tree:depth=5,fanout=3"})
    for (const char* partition : {"blocks", "random"}) {
      const graph::csr g = graph::generate(rule);
      const double n = g.vertices;
      const graph_apps::pagerank program{2, graph_apps::share_of(0.85), graph_apps::share_of(1 / n),
                                         graph_apps::share_of(0.15 / n), 0};
      graph::run_options options{.threads = 2, .ranks = 6, .partition = partition};
      const auto apart = graph::run(program, g, options);
      options.engine.combine = true;
      const auto combined = graph::run(program, g, options);
      EXPECT_LE(combined.statistics.packets, apart.statistics.packets) << rule;
    }
}

// The values of edges travel to their senders once.
TEST(CombinedMessages, OnShares) {
  for (const std::string rule :
       {"kron:scale=9,degree=6,weights=integer", "uniform:vertices=400,degree=3,symmetric=0",
        "star:vertices=100", "empty:vertices=5"}) {
    using namespace graph_apps;
    const graph::csr g = graph::generate(rule);
    const double n = g.vertices;
    const auto compare = [&](const auto& program) {
      const auto expected = graph::run_alone(program, g).host;
      for (const auto& [processes, threads] : {std::pair<rank_t, rank_t>{1, 1}, {4, 1}, {2, 3}}) {
        const auto found =
            test::run_on_shares(program, rule, processes, threads, combining())[0].host;
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_EQ(found[i].content, expected[i].content) << rule << ", vertex " << i;
      }
    };
    compare(pagerank{7, share_of(0.85), share_of(1 / n), share_of(0.15 / n), 0});
    compare(shortest_paths{1});
    compare(shortest_paths_sync{1});
    compare(components{});
  }
}

struct without_combiner {
  struct state {};
  using edge = graph::nothing;
  using message = int;
  void init(auto&) const {}
  void send(auto&, message&) const {}
  void recv(auto&, const message&, const edge&) const {}
  bool step(auto&) const { return false; }
  bool finish(auto&, message&) const { return false; }
};

TEST_P(Combine, RefusesProgramsThatDoNotSayHow) {
  const graph::csr g = graph::generate("ring:vertices=8");
  EXPECT_NE(test::refusal_of<std::invalid_argument>([&] {
              test::run_in(GetParam(), without_combiner{}, g, combining());
            }).find("it has no combine()"),
            std::string::npos);
}

// A run that would never end.
struct endless : without_combiner {
  bool step(auto&) const { return true; }
};
struct endless_sender : without_combiner {
  void init(auto& v) const { v.ready_to_send(pin(0)); }
};

TEST_P(Combine, ALimitEndsTheRun) {
  const graph::csr g = graph::generate("ring:vertices=50");
  graph::engine_options engine;
  engine.limit = std::chrono::milliseconds(20);
  EXPECT_NE(test::refusal_of<graph::run_late>([&] {
              test::run_in(GetParam(), endless{}, g, engine);
            }).find("longer than its limit"),
            std::string::npos);
  EXPECT_NE(test::refusal_of<graph::run_late>([&] {
              test::run_in(GetParam(), endless_sender{}, g, engine);
            }).find("longer than its limit"),
            std::string::npos);
}

}  // namespace
