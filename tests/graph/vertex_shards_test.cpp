// SPDX-License-Identifier: Apache-2.0
// Shards: routes and lists put together are the graph's edges, each once; parts that were made
// separately fit together.

#include <algorithm>
#include <random>
#include <tuple>

#include "tests/graph/vertex_runs.hpp"
#include "tutti/graph/shards.hpp"

namespace {

using namespace tutti;
using graph::vertex_t;

// Pin, from, to, value.
using labelled_edge = std::tuple<std::uint32_t, vertex_t, vertex_t, int>;

graph::csr random_graph(std::mt19937& random, vertex_t n, std::size_t edges) {
  graph::edge_list list;
  for (std::size_t i = 0; n != 0 && i < edges; ++i)
    list.add(static_cast<vertex_t>(random() % n), static_cast<vertex_t>(random() % n));
  list.vertices = n;
  return graph::from_edges(std::move(list));
}

// Sorts edges by pin, sender and receiving participant. Those that agree in all three keep their
// order, which a list promises to be that of the sender's row.
void sort_by_list(std::vector<labelled_edge>& edges, const std::vector<rank_t>& owners) {
  const auto list_of = [&](const labelled_edge& e) {
    return std::tuple(std::get<0>(e), std::get<1>(e), owners[std::get<2>(e)]);
  };
  std::stable_sort(edges.begin(), edges.end(),
                   [&](const auto& x, const auto& y) { return list_of(x) < list_of(y); });
}

// Returns the edges that the shards stand for, list by list.
std::vector<labelled_edge> edges_of(const graph::shards<int>& cut, std::size_t pins,
                                    const std::vector<rank_t>& owners) {
  std::vector<labelled_edge> found;
  for (rank_t p = 0; p < cut.participants(); ++p) {
    EXPECT_EQ(cut[p].rank, p);
    EXPECT_TRUE(std::is_sorted(cut[p].vertices.begin(), cut[p].vertices.end()));
    for (vertex_t local = 0; local < cut[p].vertices.size(); ++local)
      for (std::uint32_t k = 0; k < pins; ++k)
        for (const graph::route& r : cut[p].routes_of(local, k)) {
          const auto& to = cut[r.to];
          for (graph::edge_t i = to.first_target[r.list]; i < to.first_target[r.list + 1]; ++i)
            found.emplace_back(k, cut[p].vertices[local], to.vertices[to.targets[i]], to.values[i]);
        }
  }
  sort_by_list(found, owners);
  return found;
}

TEST(VertexShards, AreTheGraph) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    const auto n = static_cast<vertex_t>(random() % 40);
    const auto parts = static_cast<rank_t>(1 + random() % 9);
    const graph::csr a = random_graph(random, n, random() % 200),
                     b = random_graph(random, n, random() % 50);
    std::vector<int> values_a(a.edges()), values_b(b.edges());
    for (int& v : values_a) v = static_cast<int>(random());
    for (int& v : values_b) v = static_cast<int>(random());
    const std::array pins{graph::edge_set<int>{&a, values_a}, graph::edge_set<int>{&b, values_b}};
    std::vector<rank_t> owners(n);
    for (rank_t& owner : owners) owner = static_cast<rank_t>(random() % parts);

    std::vector<labelled_edge> expected;
    for (std::uint32_t k = 0; k < 2; ++k)
      for (vertex_t v = 0; v < n; ++v)
        for (graph::edge_t e = pins[k].edges->offsets[v]; e < pins[k].edges->offsets[v + 1]; ++e)
          expected.emplace_back(k, v, pins[k].edges->targets[e], pins[k].values[e]);
    sort_by_list(expected, owners);
    const graph::shards<int> cut(pins, owners, parts, {}, static_cast<rank_t>(1 + random() % 3));
    EXPECT_EQ(edges_of(cut, 2, owners), expected);

    for (rank_t p = 0; p < parts; ++p) {
      const auto& s = cut[p];
      for (vertex_t local = 0; local < s.vertices.size(); ++local) {
        EXPECT_EQ(s.out_degree(local, 0), a.degree(s.vertices[local]));
        EXPECT_EQ(s.out_degree(local, 1), b.degree(s.vertices[local]));
        // There is at most one message to each participant; the one to the owner itself comes last.
        const auto routes = s.routes_of(local, 0);
        for (std::size_t i = 0; i < routes.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) EXPECT_NE(routes[i].to, routes[j].to);
          if (routes[i].to == p) {
            EXPECT_EQ(i + 1, routes.size());
          }
        }
      }
    }

    // Each process makes its own shards; the results must be equal.
    for (rank_t first = 0; first < parts; first += 2) {
      const graph::shards<int> some(pins, owners, parts, {first, 2});
      for (rank_t p = first; p < std::min(parts, first + 2); ++p) {
        EXPECT_EQ(some[p].vertices, cut[p].vertices);
        EXPECT_EQ(some[p].first_route, cut[p].first_route);
        EXPECT_EQ(some[p].first_target, cut[p].first_target);
        EXPECT_EQ(some[p].targets, cut[p].targets);
        EXPECT_EQ(some[p].values, cut[p].values);
        EXPECT_EQ(some[p].in_degrees, cut[p].in_degrees);
        EXPECT_TRUE(std::equal(some[p].routes.begin(), some[p].routes.end(), cut[p].routes.begin(),
                               cut[p].routes.end(),
                               [](auto x, auto y) { return x.to == y.to && x.list == y.list; }));
      }
    }
  }
}

}  // namespace
