// SPDX-License-Identifier: Apache-2.0
// Tests rows made from lists, and graphs made from graphs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "tests/graph/data_graphs.hpp"

namespace tutti::graph::test {
namespace {

edge_list random_list(vertex_t vertices, std::size_t edges, bool weighted) {
  std::mt19937 random(7);
  edge_list list;
  list.vertices = vertices;
  for (std::size_t e = 0; e < edges; ++e) {
    const auto from = static_cast<vertex_t>(random() % vertices);
    const auto to = static_cast<vertex_t>(random() % vertices);
    weighted ? list.add(from, to, static_cast<float>(e)) : list.add(from, to);
  }
  return list;
}

std::map<std::pair<vertex_t, vertex_t>, int> counted(const csr& graph) {
  std::map<std::pair<vertex_t, vertex_t>, int> count;
  for (vertex_t u = 0; u < graph.vertices; ++u)
    for (const vertex_t v : graph.out(u)) ++count[{u, v}];
  return count;
}

TEST(Csr, KeepsEveryEdgeOfAVertexInTheOrderOfTheList) {
  const edge_list list = random_list(97, 5000, true);
  const csr graph = from_edges(list);
  validate(graph);
  std::vector<edge_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (std::size_t e = 0; e < list.size(); ++e) {
    const edge_t place = next[list.sources[e]]++;
    ASSERT_EQ(graph.targets[place], list.targets[e]);
    ASSERT_EQ(graph.weights[place], list.weights[e]);
  }
  for (vertex_t v = 0; v < graph.vertices; ++v) ASSERT_EQ(next[v], graph.offsets[v + 1]);
}

TEST(Csr, IsTheSameForAnyNumberOfThreads) {
  const edge_list list = random_list(1000, 20000, true);
  const csr one = from_edges(list, 1);
  for (const unsigned threads : {2u, 3u, 5u, 8u}) {
    EXPECT_EQ(from_edges(list, threads), one) << threads;
    EXPECT_EQ(transpose(one, threads), transpose(one)) << threads;
    EXPECT_EQ(sorted(one, threads), sorted(one)) << threads;
    EXPECT_EQ(symmetrized(one, {}, threads), symmetrized(one)) << threads;
  }
}

TEST(Csr, RefusesListsThatDoNotFit) {
  edge_list short_targets{2, {0, 1}, {1}, {}};
  EXPECT_THROW(from_edges(short_targets), std::invalid_argument);
  edge_list short_weights{2, {0, 1}, {1, 0}, {1}};
  EXPECT_THROW(from_edges(short_weights), std::invalid_argument);
  edge_list beyond{2, {0, 1}, {1, 2}, {}};
  EXPECT_EQ(error_of<std::invalid_argument>([&] { from_edges(beyond); }),
            "tutti: edge 1 of an edge list goes from 1 to 2, but there are only 2 vertices");
}

TEST(Csr, ValidateFindsWhatHandsCanBreak) {
  const csr good = graph_of(3, {{0, 1, 1}, {1, 2, 2}}, true);
  EXPECT_NO_THROW(validate(good));
  EXPECT_NO_THROW(validate(csr()));
  const auto broken = [&](auto how) {
    csr bad = good;
    how(bad);
    EXPECT_THROW(validate(bad), std::invalid_argument);
  };
  broken([](csr& g) { g.offsets.pop_back(); });
  broken([](csr& g) { g.offsets[0] = 1; });
  broken([](csr& g) { g.offsets[1] = 2, g.offsets[2] = 1; });
  broken([](csr& g) { g.offsets[3] = 3; });
  broken([](csr& g) { g.targets[0] = 3; });
  broken([](csr& g) { g.weights.pop_back(); });
  broken([](csr& g) { g.weights[1] = std::numeric_limits<float>::quiet_NaN(); });
  broken([](csr& g) { g.weights[1] = std::numeric_limits<float>::infinity(); });
}

TEST(Csr, TransposeTurnsEveryEdgeAndTwiceGivesSortedRows) {
  for (const auto& [name, graph] : odd_graphs()) {
    const csr reversed = transpose(graph);
    validate(reversed);
    auto turned = counted(graph);
    for (const auto& [ends, count] : counted(reversed)) turned[{ends.second, ends.first}] -= count;
    EXPECT_TRUE(std::all_of(turned.begin(), turned.end(), [](auto& e) { return e.second == 0; }))
        << name;
    EXPECT_EQ(transpose(reversed).targets, sorted(graph).targets) << name;
  }
}

TEST(Csr, SymmetryCountsDuplicates) {
  EXPECT_TRUE(is_symmetric(csr()));
  EXPECT_TRUE(is_symmetric(graph_of(2, {{0, 0}})));
  EXPECT_TRUE(is_symmetric(graph_of(2, {{0, 1}, {1, 0}})));
  EXPECT_FALSE(is_symmetric(graph_of(2, {{0, 1}})));
  EXPECT_FALSE(is_symmetric(graph_of(2, {{0, 1}, {0, 1}, {1, 0}})));
  // Equal in-degrees and out-degrees at every vertex do not suffice.
  EXPECT_FALSE(is_symmetric(graph_of(3, {{0, 1}, {1, 2}, {2, 0}})));
}

TEST(Csr, TheOneWayEdgeIsOne) {
  const auto edge = find_one_way(graph_of(4, {{0, 1}, {1, 0}, {3, 2}}));
  ASSERT_TRUE(edge.has_value());
  EXPECT_EQ(edge->from, 3u);
  EXPECT_EQ(edge->to, 2u);
  for (const auto& [name, graph] : odd_graphs())
    if (const auto found = find_one_way(graph)) {
      auto count = counted(graph);
      EXPECT_GT((count[{found->from, found->to}]), (count[{found->to, found->from}])) << name;
    }
}

TEST(Csr, WeightsMustAgreeInBothDirections) {
  const csr equal = graph_of(2, {{0, 1, 3}, {1, 0, 3}}, true);
  const csr differs = graph_of(2, {{0, 1, 3}, {1, 0, 4}}, true);
  EXPECT_TRUE(is_symmetric_with_weights(equal));
  EXPECT_TRUE(is_symmetric(differs));
  EXPECT_FALSE(is_symmetric_with_weights(differs));
}

TEST(Csr, SymmetrizedAddsNoMoreThanIsMissing) {
  for (const auto& [name, graph] : odd_graphs()) {
    const csr both = symmetrized(graph);
    validate(both);
    EXPECT_TRUE(is_symmetric(both)) << name;
    auto before = counted(graph);
    for (const auto& [ends, count] : counted(both))
      EXPECT_EQ(count, std::max(before[ends], (before[{ends.second, ends.first}]))) << name;
    EXPECT_EQ(symmetrized(both), both) << name;
    EXPECT_EQ(sorted(both), both) << name;
  }
}

TEST(Csr, AddedEdgesHaveTheWeightOfTheReverseOrTheGivenOne) {
  const csr graph = graph_of(3, {{0, 1, 5}, {1, 2, 8}, {2, 1, 9}}, true);
  EXPECT_EQ(symmetrized(graph), graph_of(3, {{0, 1, 5}, {1, 0, 5}, {1, 2, 8}, {2, 1, 9}}, true));
  EXPECT_EQ(symmetrized(graph, 0.0f),
            graph_of(3, {{0, 1, 5}, {1, 0, 0}, {1, 2, 8}, {2, 1, 9}}, true));
}

TEST(Csr, LoopsAndDuplicatesGo) {
  const csr graph = graph_of(3, {{0, 2, 4}, {0, 0, 1}, {0, 2, 3}, {2, 2, 1}, {0, 1, 9}}, true);
  EXPECT_EQ(without_self_loops(graph), graph_of(3, {{0, 2, 4}, {0, 2, 3}, {0, 1, 9}}, true));
  EXPECT_EQ(without_duplicates(graph),
            graph_of(3, {{0, 0, 1}, {0, 1, 9}, {0, 2, 3}, {2, 2, 1}}, true));
}

TEST(Csr, RelabelledIsTheSameGraph) {
  const csr graph = graph_of(4, {{0, 1, 1}, {0, 3, 2}, {2, 0, 3}, {3, 3, 4}}, true);
  const std::vector<vertex_t> name = {2, 0, 3, 1}, back = {1, 3, 0, 2};
  const csr other = relabelled(graph, name);
  EXPECT_EQ(other, graph_of(4, {{2, 0, 1}, {2, 1, 2}, {3, 2, 3}, {1, 1, 4}}, true));
  EXPECT_EQ(relabelled(other, back), graph);
  EXPECT_EQ(relabelled(csr(), {}), csr());

  EXPECT_THROW(relabelled(graph, std::vector<vertex_t>{0, 1, 2}), std::invalid_argument);
  EXPECT_THROW(relabelled(graph, std::vector<vertex_t>{0, 1, 2, 4}), std::invalid_argument);
  EXPECT_EQ(error_of<std::invalid_argument>([&] {
              relabelled(graph, std::vector<vertex_t>{0, 1, 2, 1});
            }),
            "tutti: vertices 1 and 3 have the same new name, 1");
}

TEST(Csr, DegreesAreCounted) {
  const degree_statistics found = degrees(graph_of(5, {{0, 1}, {0, 1}, {0, 0}, {1, 2}, {0, 4}}));
  EXPECT_EQ(found.largest, 4u);
  EXPECT_EQ(found.largest_at, 0u);
  EXPECT_EQ(found.smallest, 0u);
  EXPECT_DOUBLE_EQ(found.mean, 1);
  EXPECT_DOUBLE_EQ(found.median, 0);
  EXPECT_DOUBLE_EQ(found.deviation, std::sqrt((9 + 0 + 1 + 1 + 1) / 5.0));
  EXPECT_EQ(found.without_out_edges, 3u);
  EXPECT_EQ(found.isolated, 1u);
  EXPECT_EQ(found.self_loops, 1u);
  EXPECT_EQ(found.duplicates, 1u);
  EXPECT_EQ(degrees(csr()).largest_at, no_vertex);
  EXPECT_DOUBLE_EQ(degrees(graph_of(2, {{0, 1}})).median, 0.5);
  EXPECT_EQ(describe(graph_of(1, {{0, 0}})), "1 vertex, 1 edge, unweighted");
}

}  // namespace
}  // namespace tutti::graph::test
