// SPDX-License-Identifier: Apache-2.0
// Compares each mode of each application, on threads and virtual ranks, with the plain loop (the
// same bits) and with an oracle.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/graph/app_graphs.hpp"

namespace {

using namespace tutti;
using graph_apps::mode;
using graph_apps::outcome;
using graph_apps::settings;
using test::column_of;
using test::run_app;

struct setup {
  rank_t threads, ranks;
  const char* partition;
};
constexpr setup setups[] = {{1, 0, "blocks"},
                            {2, 0, "edge-blocks"},
                            {3, 0, "random"},
                            {2, 5, "streaming"},
                            {8, 0, "random"}};

settings on(const setup& c, mode m, settings s = {}) {
  s.mode = m;
  s.run.threads = c.threads;
  s.run.ranks = c.ranks;
  s.run.partition = c.partition;
  return s;
}

// Calls check(outcome) for the sequential loop first, then for each mode and number of
// participants.
template <class Check>
void in_every_way(const std::string& app, const test::named_graph& g, const settings& s,
                  Check check) {
  settings alone = s;
  alone.mode = mode::sequential;
  check(run_app(app, g.graph, alone));
  for (const mode m : {mode::sync, mode::async})
    for (const setup& c : setups) {
      SCOPED_TRACE(g.name + (m == mode::sync ? ", sync, " : ", async, ") +
                   std::to_string(c.threads) + " threads, " + std::to_string(c.ranks) + " ranks");
      check(run_app(app, g.graph, on(c, m, s)));
    }
}

class App : public testing::TestWithParam<test::named_graph> {};
INSTANTIATE_TEST_SUITE_P(Graphs, App, testing::ValuesIn(test::app_graphs()),
                         [](const auto& each) { return each.param.name; });

// `bound` gives how far a rank may be from the one that is expected.
template <class Bound>
void expect_page_ranks(const test::named_graph& on, const settings& s, Bound bound) {
  const auto expected = test::power_iteration(on.graph, 0.85);
  std::vector<double> first;
  in_every_way("pagerank", on, s, [&](const outcome& o) {
    const auto& rank = column_of<double>(o, "rank");
    if (first.empty()) first = rank;
    EXPECT_EQ(rank, first);
    for (std::size_t v = 0; v < rank.size(); ++v)
      EXPECT_NEAR(rank[v], expected[v], bound(expected[v])) << "vertex " << v;
  });
}

TEST_P(App, PageRank) {
  settings s;
  s.steps = 300;
  expect_page_ranks(GetParam(), s, [](double) { return 1e-12; });
}

// Messages of 4 bytes: ranks are rounded, but sums are not.
TEST_P(App, PageRankInSinglePrecision) {
  settings s;
  s.steps = 100;
  s.single = true;
  expect_page_ranks(GetParam(), s, [](double rank) { return 1e-6 * rank + 1e-7; });
}

TEST_P(App, PageRankOfFewIterations) {
  for (const std::uint64_t iterations : {0u, 1u, 2u, 7u}) {
    settings s;
    s.steps = iterations;
    std::vector<double> first;
    in_every_way("pagerank", GetParam(), s, [&](const outcome& o) {
      if (first.empty()) first = column_of<double>(o, "rank");
      EXPECT_EQ(column_of<double>(o, "rank"), first) << iterations << " iterations";
    });
  }
}

TEST_P(App, ShortestPaths) {
  const auto& g = GetParam().graph;
  for (const graph::vertex_t source : {graph::vertex_t{0}, g.vertices / 2, g.vertices - 1}) {
    const auto expected = test::all_relaxed(g, source);
    settings s;
    s.sources = {source};
    in_every_way("sssp", GetParam(), s,
                 [&](const outcome& o) { EXPECT_EQ(column_of<double>(o, "distance"), expected); });
  }
}

TEST_P(App, BreadthFirst) {
  const auto& g = GetParam().graph;
  for (const graph::vertex_t source : {graph::vertex_t{0}, g.vertices / 2, g.vertices - 1}) {
    const auto distance = test::breadth_first(g, source);
    // The lowest number of those that are one edge nearer.
    std::vector<std::int64_t> parent(g.vertices, -1);
    test::for_each_edge(g, [&](auto u, auto v, auto) {
      if (distance[u] >= 0 && distance[v] == distance[u] + 1 && (parent[v] < 0 || u < parent[v]))
        parent[v] = u;
    });
    parent[source] = source;
    settings s;
    s.sources = {source};
    in_every_way("bfs", GetParam(), s, [&](const outcome& o) {
      EXPECT_EQ(column_of<std::int64_t>(o, "distance"), distance);
      EXPECT_EQ(column_of<std::int64_t>(o, "parent"), parent);
    });
  }
}

TEST_P(App, Components) {
  const auto& g = GetParam().graph;
  // Lower numbers spread along all edges, both ways, until nothing changes.
  std::vector<std::uint64_t> lowest(g.vertices);
  std::iota(lowest.begin(), lowest.end(), 0u);
  for (bool changed = true; changed;) {
    changed = false;
    test::for_each_edge(g, [&](auto u, auto v, auto) {
      changed = changed || lowest[u] != lowest[v];
      lowest[u] = lowest[v] = std::min(lowest[u], lowest[v]);
    });
  }
  in_every_way("components", GetParam(), {}, [&](const outcome& o) {
    EXPECT_EQ(column_of<std::uint64_t>(o, "component"), lowest);
  });
}

TEST_P(App, MultiSource) {
  const auto& g = GetParam().graph;
  std::mt19937 random(3);
  for (const std::size_t count : {1u, 3u, 130u, 600u}) {
    settings s;
    s.block = 1 + static_cast<std::uint32_t>(random() % 20);
    std::vector<std::uint64_t> sources(g.vertices), total(g.vertices), farthest(g.vertices);
    for (std::size_t i = 0; i < count; ++i) {
      s.sources.push_back(static_cast<graph::vertex_t>(random() % g.vertices));
      const auto d = test::breadth_first(g, s.sources.back());
      for (graph::vertex_t v = 0; v < g.vertices; ++v) {
        if (d[v] < 0) continue;
        ++sources[v];
        total[v] += static_cast<std::uint64_t>(d[v]);
        farthest[v] = std::max(farthest[v], static_cast<std::uint64_t>(d[v]));
      }
    }
    in_every_way("mssp", GetParam(), s, [&](const outcome& o) {
      EXPECT_EQ(column_of<std::uint64_t>(o, "sources"), sources)
          << count << " sources, blocks of " << s.block;
      EXPECT_EQ(column_of<std::uint64_t>(o, "total"), total);
      EXPECT_EQ(column_of<std::uint64_t>(o, "farthest"), farthest);
    });
  }
}

TEST_P(App, Heat) {
  const auto& g = GetParam().graph;
  for (const std::uint64_t steps : {0u, 1u, 100u}) {
    settings s;
    s.steps = steps;
    s.sources = {g.vertices / 3};
    std::vector<double> first;
    in_every_way("heat", GetParam(), s, [&](const outcome& o) {
      const auto& t = column_of<double>(o, "temperature");
      if (first.empty()) {
        first = t;
        std::vector<double> initial(g.vertices, 0.0);
        initial[g.vertices / 3] = 100;
        const auto expected = test::euler_heat(g, initial, o.summary.at(0).second, steps);
        for (std::size_t v = 0; v < t.size(); ++v)
          EXPECT_NEAR(t[v], expected[v], 1e-10) << "vertex " << v;
      }
      EXPECT_EQ(t, first) << steps << " steps";
    });
  }
}

// With all weights a power of two as large, and steps that are as long in proportion, each
// temperature has the same bits.
TEST(Heat, DependsOnTheRatioOfWeightsAlone) {
  std::vector<double> first;
  for (const float weight : {1.0f, 0x1p-40f, 0x1p-100f, 0x1p30f}) {
    graph::edge_list list;
    for (graph::vertex_t v = 0; v < 6; ++v) {
      list.add(v, (v + 1) % 6, weight);
      list.add(v, (v + 5) % 6, weight);
    }
    settings s;
    s.steps = 20;
    s.sources = {2};
    const graph::csr ring = graph::from_edges(std::move(list));
    for (const mode m : {mode::sequential, mode::sync, mode::async}) {
      s.mode = m;
      const auto t = column_of<double>(run_app("heat", ring, s), "temperature");
      if (first.empty()) first = t;
      EXPECT_EQ(t, first) << weight;
    }
  }
}

TEST_P(App, Spiking) {
  settings s;
  s.steps = 200;
  s.record = true;
  s.coupling = 3;
  std::vector<std::uint64_t> first;
  std::vector<std::pair<std::uint64_t, graph::vertex_t>> first_spikes;
  in_every_way("spiking", GetParam(), s, [&](const outcome& o) {
    const auto& counts = column_of<std::uint64_t>(o, "spikes");
    std::vector<std::pair<std::uint64_t, graph::vertex_t>> spikes;
    for (const auto& each : o.spikes) spikes.emplace_back(each.step, each.neuron);
    if (first.empty()) first = counts, first_spikes = spikes;
    EXPECT_EQ(counts, first);
    EXPECT_EQ(spikes, first_spikes);
    std::vector<std::uint64_t> recount(counts.size());
    for (const auto& each : spikes) ++recount[each.second];
    EXPECT_EQ(recount, counts);
  });
  if (GetParam().graph.edges() > 100) {
    EXPECT_GT(first_spikes.size(), 50u);
  }
}

}  // namespace
