// SPDX-License-Identifier: Apache-2.0
// A share is the same part of the same graph as is cut from the whole one, bit by bit: for every
// generator, every format of files, and any number of participants and processes.
#include "tutti/graph/share.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "graph_apps/programs/components.hpp"
#include "graph_apps/programs/pagerank.hpp"
#include "graph_apps/programs/shortest_paths.hpp"
#include "tests/graph/share_runs.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/scratch.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/partition.hpp"
#include "tutti/graph/run_across.hpp"
#include "tutti/graph/run_alone.hpp"
#include "tutti/graph/save.hpp"
#include "tutti/platform/thread_sanitizer.hpp"

namespace {

using namespace tutti;
using graph::share_request;
using test::scratch;

std::vector<std::string> rules() {
  return {"kron:scale=8,degree=6",
          "kron:scale=7,degree=6,simple=1",
          "kron:scale=7,degree=6,simple=1,symmetric=0,weights=integer",
          "kron:scale=6,degree=0",
          "uniform:vertices=300,degree=5,weights=real",
          "uniform:vertices=300,degree=5,symmetric=0",
          "geometric:vertices=400,degree=8",
          "geometric:vertices=300,degree=8,order=random,locality=0.7,weights=integer",
          "grid:width=9,height=7,depth=2,wrap=1",
          "ring:vertices=10",
          "chain:vertices=11,directed=1",
          "star:vertices=70",
          "complete:vertices=20",
          "tree:depth=4,fanout=3",
          "detours:components=6",
          "empty:vertices=5",
          "empty:vertices=0"};
}

using make_share = std::function<graph::graph_share(const share_request&)>;

std::vector<rank_t> owners_of(const graph::graph_share& part) {
  std::vector<rank_t> owners(part.vertices);
  for (rank_t p = 0; p < part.participants(); ++p)
    std::fill(owners.begin() + part.blocks[p], owners.begin() + part.blocks[p + std::size_t{1}], p);
  return owners;
}

void expect_equal(const graph::shard<float>& made, const graph::shard<float>& expected) {
  EXPECT_EQ(made.rank, expected.rank);
  EXPECT_EQ(made.vertices, expected.vertices);
  EXPECT_EQ(made.first_route, expected.first_route);
  ASSERT_EQ(made.routes.size(), expected.routes.size());
  for (std::size_t i = 0; i < made.routes.size(); ++i) {
    EXPECT_EQ(made.routes[i].to, expected.routes[i].to) << "route " << i;
    EXPECT_EQ(made.routes[i].list, expected.routes[i].list) << "route " << i;
  }
  EXPECT_EQ(made.out_degrees, expected.out_degrees);
  EXPECT_EQ(made.in_degrees, expected.in_degrees);
  EXPECT_EQ(made.first_target, expected.first_target);
  EXPECT_EQ(made.targets, expected.targets);
  EXPECT_EQ(made.values, expected.values);
  EXPECT_EQ(made.in_lists, expected.in_lists);
  EXPECT_EQ(made.out_lists, expected.out_lists);
}

// Compares the shards of `processes` shares of `threads` participants with those of the whole
// graph.
void compare(const graph::csr& whole, const make_share& make, rank_t processes, rank_t threads,
             const std::string& partition) {
  const rank_t all = processes * threads;
  std::vector<graph::shards<float>> made;
  std::vector<rank_t> owners;
  graph::edge_t edges = 0;
  for (rank_t p = 0; p < processes; ++p) {
    graph::graph_share part =
        make({.participants = all, .first = p * threads, .count = threads, .partition = partition});
    EXPECT_EQ(part.vertices, whole.vertices);
    EXPECT_EQ(part.weighted, whole.weighted());
    edges += part.out_edges();
    if (p == 0) owners = owners_of(part);
    EXPECT_EQ(owners, owners_of(part)) << "the processes agree on the blocks";
    made.emplace_back(std::move(part), true);
  }
  EXPECT_EQ(edges, whole.edges());
  for (rank_t p = 0; p < all; ++p) {
    std::vector<std::uint32_t> by_receiver;
    for (rank_t q = 0; q < all; ++q) by_receiver.push_back(made[q / threads].first_lists(q)[p]);
    made[p / threads].number_routes(p, by_receiver);
  }
  const graph::edge_set<float> pins{&whole, {}};
  const graph::shards<float> expected(std::span(&pins, 1), owners, all, {}, 1, true);
  for (rank_t p = 0; p < all; ++p) {
    SCOPED_TRACE("participant " + std::to_string(p) + " of " + std::to_string(all));
    expect_equal(made[p / threads][p], expected[p]);
  }
}

void compare_all(const graph::csr& whole, const make_share& make) {
  for (const char* partition : {"blocks", "edge-blocks"})
    for (const auto& [processes, threads] :
         {std::pair<rank_t, rank_t>{1, 1}, {2, 1}, {3, 2}, {5, 1}, {67, 1}})
      compare(whole, make, processes, threads, partition);
}

TEST(Share, IsThatOfTheGeneratedGraph) {
  for (const std::string& rule : rules()) {
    SCOPED_TRACE(rule);
    compare_all(graph::generate(rule),
                [&](const share_request& mine) { return graph::generate_share(rule, mine); });
  }
}

TEST(Share, HasTheBlocksOfThePartition) {
  for (const std::string rule : {"kron:scale=9,degree=7", "star:vertices=100", "empty:vertices=9"})
    for (const std::string method : {"blocks", "edge-blocks"})
      for (const rank_t parts : {1u, 2u, 3u, 8u})
        EXPECT_EQ(
            owners_of(graph::generate_share(rule, {.participants = parts, .partition = method})),
            graph::partition(graph::generate(rule), parts, method))
            << rule << " " << method << " " << parts;
}

TEST(Share, IsThatOfTheFile) {
  const scratch here;
  const std::string simple = "kron:scale=7,degree=5,simple=1";
  for (const auto& [name, rule] :
       {std::pair<std::string, std::string>{"a.el", "kron:scale=7,degree=5"},
        {"a.wel", "uniform:vertices=90,degree=4,weights=real,symmetric=0"},
        {"a.mtx", "kron:scale=6,degree=5,weights=integer"},
        {"a.sg", "kron:scale=7,degree=5"},
        {"b.sg", "uniform:vertices=90,degree=4,symmetric=0"},
        {"a.wsg", "kron:scale=7,degree=5,weights=integer"},
        {"a.graph", simple},
        {"b.graph", simple + ",weights=integer"},
        {"empty.el", "empty:vertices=3"}}) {
    SCOPED_TRACE(name);
    const std::string path = here.path(name);
    graph::save(graph::generate(rule), path);
    compare_all(graph::load(path),
                [&](const share_request& mine) { return graph::load_share(path, {}, mine); });
  }
}

// More than 4 MiB: the file's pages leave the memory while it is read. One thread reads it, so one
// smaller file is enough under ThreadSanitizer, where the four take minutes.
TEST(Share, IsThatOfALargeFile) {
  const scratch here;
  std::vector<std::string> names{"large.wel", "large.mtx", "large.sg", "large.graph"};
  std::string rule = "kron:scale=17,degree=8,simple=1";
  if (platform::under_thread_sanitizer()) {
    names = {"large.wel"};
    rule = "kron:scale=16,degree=8,simple=1";
  }
  for (const std::string& name : names) {
    const std::string path = here.path(name);
    const bool weighted = name == "large.wel" || name == "large.mtx";
    graph::save(graph::generate(rule + (weighted ? ",weights=integer" : "")), path);
    ASSERT_GT(std::filesystem::file_size(path), std::size_t{6} << 20);
    compare(
        graph::load(path),
        [&](const share_request& mine) { return graph::load_share(path, {}, mine); }, 3, 1,
        "edge-blocks");
  }
}

TEST(Share, OfBothDirections) {
  const scratch here;
  const std::string path = here.path("one_way.wel");
  graph::edge_list list;
  list.add(0, 5, 2), list.add(5, 0, 2), list.add(3, 3, 1), list.add(4, 1, 7), list.add(1, 2, 0);
  graph::save(graph::from_edges(list), path);
  graph::edge_list both;
  const graph::csr one_way = graph::load(path);
  // The order of the edges in the file decides.
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    graph::vertex_t from, to;
    float weight;
    if (std::sscanf(line.c_str(), "%u %u %f", &from, &to, &weight) != 3) continue;
    both.add(from, to, weight);
    if (from != to) both.add(to, from, weight);
  }
  both.vertices = one_way.vertices;
  compare_all(graph::from_edges(both), [&](share_request mine) {
    mine.both_ways = true;
    return graph::load_share(path, {}, mine);
  });
  // A symmetric graph keeps its edges.
  compare_all(graph::generate("kron:scale=6,degree=4"), [&](share_request mine) {
    mine.both_ways = true;
    return graph::generate_share("kron:scale=6,degree=4", mine);
  });
}

TEST(Share, WithoutWeights) {
  const auto part = graph::generate_share("ring:vertices=8,weights=integer",
                                          {.participants = 2, .weights = false});
  EXPECT_FALSE(part.weighted);
  EXPECT_TRUE(part.parts.at(0).weights.empty());
}

template <class Error, class F>
std::string error_of(F f) {
  return test::refusal_of<Error>(f);
}

// Every process finds an error, wherever in the file it is, with the words that load() finds.
TEST(Share, ErrorsNameFileAndLine) {
  const scratch here;
  for (const auto& [name, text, line] :
       {std::tuple<std::string, std::string, int>{"a.el", "0 1\n1 2\n2 x\n", 3},
        {"a.wel", "0 1 1\n1 2 nan\n", 2},
        {"a.wel", "0 1 1\n1 2 -1\n", 2},
        {"a.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n1 4\n", 4},
        {"a.graph", "3 2\n2\n1 3\n4\n", 4},
        {"a.graph", "3 2\n2\n1 3\n1\n", 0},
        {"a.sg", "no graph", 0},
        {"a.el", "", 0}}) {
    const std::string path = here.path(name);
    std::ofstream(path) << text;
    const graph::load_options strict{.negative_weights = false};
    const std::string whole = error_of<graph::file_error>([&] { graph::load(path, strict); });
    const std::string begin = path + ":" + (line != 0 ? std::to_string(line) + ":" : "");
    EXPECT_EQ(whole.rfind(begin, 0), 0u) << whole;
    for (rank_t p = 0; p < 3; ++p)
      EXPECT_EQ(error_of<graph::file_error>(
                    [&] { graph::load_share(path, strict, {.participants = 3, .first = p}); }),
                whole);
  }
  EXPECT_NE(error_of<graph::file_error>([&] {
              graph::load_share(here.path("none"), {}, {});
            }).find("cannot be opened"),
            std::string::npos);
}

TEST(Share, RefusesWhatIsNotOne) {
  const auto refusal = [](const std::string& rule, const share_request& mine) {
    return error_of<std::invalid_argument>([&] { graph::generate_share(rule, mine); });
  };
  EXPECT_NE(refusal("ring:vertices=8", {.participants = 0}).find("at least one"),
            std::string::npos);
  EXPECT_NE(refusal("ring:vertices=8", {.participants = 2, .first = 2}).find("from 2 on"),
            std::string::npos);
  EXPECT_NE(
      refusal("ring:vertices=8", {.participants = 2, .first = 1, .count = 2}).find("2 partic"),
      std::string::npos);
  EXPECT_NE(refusal("ring:vertices=8", {.partition = "metis"}).find("not 'metis'"),
            std::string::npos);
  EXPECT_NE(refusal("ring:vertices=x", {}).find("vertices"), std::string::npos);
  const std::string negative =
      refusal("ring:vertices=8,weights=integer,low=-3,high=-3", {.negative_weights = false});
  EXPECT_NE(negative.find("from 0 to 1 is -3"), std::string::npos) << negative;
  EXPECT_EQ(refusal("ring:vertices=8,weights=integer,low=-3,high=-3", {}), "accepted");
}

template <class Program>
void expect_same_results(const Program& program, const std::string& rule) {
  const auto expected = graph::run_alone(program, graph::generate(rule)).host;
  for (const auto& [processes, threads] : {std::pair<rank_t, rank_t>{1, 1}, {4, 1}, {2, 3}}) {
    const auto results = test::run_on_shares(program, rule, processes, threads);
    for (const auto& each : results) EXPECT_EQ(each.edges, graph::generate(rule).edges());
    const auto& found = results[0].host;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].vertex, expected[i].vertex);
      EXPECT_EQ(found[i].content, expected[i].content) << rule << ", vertex " << found[i].vertex;
    }
  }
}

TEST(Share, GivesTheSameResults) {
  for (const std::string rule :
       {"kron:scale=9,degree=6", "geometric:vertices=500,degree=6,weights=real",
        "uniform:vertices=400,degree=3,symmetric=0,weights=integer", "chain:vertices=30"}) {
    using namespace graph_apps;
    const double n = graph::generate(rule).vertices;
    expect_same_results(pagerank{12, share_of(0.85), share_of(1 / n), share_of(0.15 / n), 0}, rule);
    expect_same_results(shortest_paths{.source = 1}, rule);
    expect_same_results(components{}, rule);
  }
}

// Each process has the results of its own vertices, and together they are those of all.
TEST(Share, LeavesResultsWhereTheyAre) {
  const std::string rule = "kron:scale=8,degree=5";
  const auto expected = graph::run_alone(graph_apps::components{}, graph::generate(rule)).host;
  for (const auto& [processes, threads] : {std::pair<rank_t, rank_t>{1, 1}, {4, 1}, {2, 3}}) {
    graph::engine_options engine;
    engine.own_results = true;
    std::size_t at = 0;
    for (const auto& each :
         test::run_on_shares(graph_apps::components{}, rule, processes, threads, engine)) {
      EXPECT_LT(each.host.size(), processes == 1 ? expected.size() + 1 : expected.size());
      for (const auto& m : each.host) {
        EXPECT_EQ(m.vertex, expected.at(at).vertex);
        EXPECT_EQ(m.content, expected.at(at++).content) << "of vertex " << m.vertex;
      }
    }
    EXPECT_EQ(at, expected.size());
  }
}

struct waits : graph_apps::components {
  static constexpr bool needs_symmetric = true;
  using vertex = graph::vertex<waits>;
  void init(vertex&) const {}
  void send(vertex&, message&) const {}
  void recv(vertex&, const message&, const edge&) const {}
  bool step(vertex&) const { return false; }
  bool finish(vertex&, message&) const { return false; }
};

TEST(Share, RefusesAnotherProcesssShareAndProgramsThatWait) {
  communicator comm(2);
  test::process mine{comm, 1, 1};
  const auto of_first = [] {
    return graph::generate_share("ring:vertices=8", {.participants = 2});
  };
  EXPECT_NE(error_of<std::invalid_argument>([&] {
              graph::run_across(graph_apps::components{}, of_first(), mine);
            }).find("of 2 participants from 0 on, but"),
            std::string::npos);
  EXPECT_NE(error_of<std::invalid_argument>([&] {
              graph::run_across(waits{}, of_first(), mine);
            }).find("needs the whole graph"),
            std::string::npos);
}

}  // namespace
