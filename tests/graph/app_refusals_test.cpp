// SPDX-License-Identifier: Apache-2.0
// What the applications refuse, and the message counts of figure 8 of Naylor et al. 2020.

#include <gtest/gtest.h>

#include "tests/graph/app_graphs.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace tutti;
using graph_apps::mode;
using graph_apps::settings;
using test::run_app;

std::string refusal(const std::string& app, const graph::csr& g, const settings& s) {
  return test::refusal_of<std::invalid_argument>([&] { run_app(app, g, s); });
}

graph::csr small(float weight) {
  graph::edge_list list;
  list.add(0, 1, 1.0f);
  list.add(1, 2, weight);
  return graph::from_edges(std::move(list));
}

TEST(AppRefusals, Sources) {
  settings s;
  for (const std::string app : {"sssp", "bfs", "mssp"}) {
    s.sources = {};
    EXPECT_NE(refusal(app, small(1), s).find("at least one source"), std::string::npos);
    s.sources = {3};
    EXPECT_NE(refusal(app, small(1), s).find("source 3 is not a vertex of the graph, which has 3"),
              std::string::npos);
    EXPECT_NE(refusal(app, graph::csr{}, s).find("which has 0"), std::string::npos);
    s.sources = {2};
    EXPECT_EQ(refusal(app, small(1), s), "accepted");
  }
  s.sources = {0, 1};
  EXPECT_NE(refusal("sssp", small(1), s).find("mssp"), std::string::npos);
  EXPECT_NE(refusal("bfs", small(1), s).find("mssp"), std::string::npos);
}

TEST(AppRefusals, Weights) {
  settings s;
  s.sources = {0};
  for (const std::string app : {"sssp", "heat"}) {
    EXPECT_NE(refusal(app, small(-2), s).find("from 1 to 2 is -2"), std::string::npos);
    EXPECT_EQ(refusal(app, small(0), s), "accepted");
  }
  s.coupling = 1e9;
  EXPECT_NE(refusal("spiking", small(1), s).find("from 0 to 1 is out of range"), std::string::npos);
  s.coupling = 1000;
  EXPECT_EQ(refusal("spiking", small(-1), s), "accepted");
  EXPECT_NE(refusal("spiking", small(-1.5f), s).find("the current -1500 of the edge from 1 to 2"),
            std::string::npos);
}

TEST(AppRefusals, Numbers) {
  settings s;
  s.step = 0.6;
  EXPECT_EQ(refusal("heat", small(1), s), "accepted");
  s.step = 1.1;
  EXPECT_NE(refusal("heat", small(1), s).find("the largest stable step on this graph is 1"),
            std::string::npos);
  s = {};
  s.damping = 1;
  EXPECT_NE(refusal("pagerank", small(1), s).find("damping"), std::string::npos);
  s.damping = 0.9999999999999999;
  EXPECT_EQ(refusal("pagerank", small(1), s), "accepted");
  graph::edge_list many;
  many.add(0, 999, 1.0f);
  EXPECT_NE(refusal("pagerank", graph::from_edges(std::move(many)), s).find("for 1000 vertices"),
            std::string::npos);
  s = {};
  s.tolerance = 1e-6;
  EXPECT_EQ(refusal("pagerank", small(1), s), "accepted");
  s.mode = mode::async;
  EXPECT_NE(refusal("pagerank", small(1), s).find("sync"), std::string::npos);
  s = {};
  s.run.partition = "by magic";
  s.run.threads = 2;
  EXPECT_NE(refusal("pagerank", small(1), s).find("by magic"), std::string::npos);
}

TEST(AppRefusals, ModesWithoutVertices) {
  for (const mode m : {mode::sync, mode::async, mode::sequential})
    for (const std::string app : {"pagerank", "components", "spiking", "heat"}) {
      settings s;
      s.mode = m;
      s.run.threads = 2;
      EXPECT_EQ(refusal(app, graph::csr{}, s), "accepted") << app;
    }
}

// PageRank and heat send along every edge in every step in both modes. The others send many more
// messages if vertices wait for their neighbours.
TEST(AppFigure8, Messages) {
  std::mt19937 random(8);
  const graph::csr g = test::random_edges(random, 200, 1000, false, true);
  settings s;
  s.steps = 10;
  s.sources = {0};
  s.run.threads = 2;
  const auto messages = [&](const std::string& app, mode m) {
    s.mode = m;
    return run_app(app, g, s).statistics.messages();
  };
  EXPECT_EQ(messages("pagerank", mode::sync), 10 * g.edges());
  EXPECT_EQ(messages("pagerank", mode::async), 10 * g.edges());
  EXPECT_EQ(messages("heat", mode::sync), messages("heat", mode::async));
  EXPECT_LT(2 * messages("mssp", mode::sync), messages("mssp", mode::async));
  s.steps = 200;
  EXPECT_LT(10 * messages("spiking", mode::sync), messages("spiking", mode::async));
}

TEST(AppPageRank, ATolerance) {
  std::mt19937 random(4);
  const graph::csr g = test::random_edges(random, 100, 600, false);
  const auto expected = test::power_iteration(g, 0.85);
  for (const mode m : {mode::sync, mode::sequential}) {
    settings s;
    s.steps = 1000;
    s.tolerance = 1e-9;
    s.mode = m;
    s.run.threads = 2;
    const auto o = run_app("pagerank", g, s);
    EXPECT_GT(o.statistics.time, 20u);
    EXPECT_LT(o.statistics.time, 200u);
    const auto& rank = test::column_of<double>(o, "rank");
    for (std::size_t v = 0; v < rank.size(); ++v) EXPECT_NEAR(rank[v], expected[v], 1e-9);
  }
}

}  // namespace
