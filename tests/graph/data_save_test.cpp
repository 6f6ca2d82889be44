// SPDX-License-Identifier: Apache-2.0
// Tests that a saved graph is loaded again bit by bit, that graphs which do not fit are refused,
// and that a file is complete or absent.
#include <array>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "tests/graph/data_graphs.hpp"
#include "tutti/graph/load.hpp"
#include "tutti/graph/save.hpp"

namespace tutti::graph::test {
namespace {

csr without_weights(csr graph) {
  graph.weights.clear();
  return graph;
}

TEST(Save, WhatIsLoadedIsWhatWasSaved) {
  const scratch here;
  for (const auto& [name, graph] : odd_graphs()) {
    const bool weighted = graph.weighted();
    for (const std::string ending :
         {weighted ? ".wel" : ".el", ".mtx", weighted ? ".wsg" : ".sg"}) {
      const std::string path = here.path("g" + ending);
      save(graph, path);
      EXPECT_EQ(load(path), graph) << name << ending;
    }
  }
  EXPECT_EQ(here.files(), 5u) << "a temporary file was left";
}

TEST(Save, MetisKeepsUndirectedGraphs) {
  const scratch here;
  for (const char* specification :
       {"empty:vertices=3", "empty:vertices=0", "ring:vertices=9", "grid:width=4,height=3,wrap=1",
        "kron:scale=8,degree=4,simple=1,weights=integer", "star:vertices=5"}) {
    const csr graph = generate(specification);
    save(graph, here.path("g.graph"));
    EXPECT_EQ(load(here.path("g.graph")), graph) << specification;
  }
}

TEST(Save, EveryFloatComesBack) {
  csr graph = graph_of(1, std::vector<pair>(7, pair{0, 0, 0}), true);
  graph.weights = {0.1f, -0.0f, 1e-45f, 3.4028235e38f, 16777216, -1.5e-10f, 1.0f / 3};
  const scratch here;
  for (const char* name : {"g.wel", "g.mtx"}) {
    save(graph, here.path(name));
    const csr again = load(here.path(name));
    ASSERT_EQ(again.weights.size(), graph.weights.size());
    EXPECT_EQ(std::memcmp(again.weights.data(), graph.weights.data(), 28), 0) << name;
  }
}

TEST(Save, TheBytesAreTheOnesDocumented) {
  const csr graph = graph_of(3, {{0, 1, 2.5f}, {2, 0, 1}}, true);
  const auto text = [](const csr& g, file_format format) {
    std::ostringstream out;
    save_to(out, g, format);
    return out.str();
  };
  EXPECT_EQ(text(graph, file_format::weighted_edge_list),
            "# tutti graph: vertices=3 edges=2\n0 1 2.5\n2 0 1\n");
  EXPECT_EQ(text(graph, file_format::matrix_market),
            "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 2.5\n3 1 1\n");
  EXPECT_EQ(text(without_weights(graph), file_format::matrix_market),
            "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n");
  EXPECT_EQ(text(graph_of(3, {{0, 1, 9}, {1, 0, 9}}, true), file_format::metis),
            "3 1 001\n2 9\n1 9\n\n");
  const std::string gap = text(graph_of(2, {{0, 1, 7}}, true), file_format::gap);
  ASSERT_EQ(gap.size(), 17u + 2 * (3 * 8 + 8));
  EXPECT_EQ(gap[0], 1);
  const std::array<std::int64_t, 5> wide = {1, 2, 0, 1, 1};
  EXPECT_EQ(std::memcmp(gap.data() + 1, wide.data(), 40), 0);
  const std::array<std::int32_t, 2> narrow = {1, 7};
  EXPECT_EQ(std::memcmp(gap.data() + 41, narrow.data(), 8), 0);
  EXPECT_EQ(text(graph_of(2, {{0, 1}, {1, 0}}), file_format::gap).size(), 17u + 3 * 8 + 2 * 4);
}

TEST(Save, WhatAFormatCannotHoldIsRefused) {
  const scratch here;
  const csr weighted = graph_of(2, {{0, 1, 2.5f}, {1, 0, 2.5f}}, true);
  const auto refusal = [&](const csr& graph, const char* name) {
    const std::string error =
        error_of<std::invalid_argument>([&] { save(graph, here.path(name)); });
    EXPECT_EQ(here.files(), 0u) << name;
    return error;
  };
  EXPECT_EQ(refusal(weighted, "g.el"),
            "tutti: a graph with weights does not fit into an unweighted edge list");
  EXPECT_EQ(refusal(without_weights(weighted), "g.wel"),
            "tutti: a graph without weights cannot be a weighted edge list");
  EXPECT_EQ(refusal(weighted, "g.wsg"),
            "tutti: a GAP graph can have only whole weights of 32 bits; 2.500000 is none");
  EXPECT_NE(refusal(weighted, "g.sg").find("must end in .wsg"), std::string::npos);
  EXPECT_EQ(refusal(weighted, "g.graph"),
            "tutti: METIS accepts only whole weights from 1 to below 2^31");
  EXPECT_EQ(refusal(graph_of(2, {{0, 1}}), "g.graph"),
            "tutti: a METIS graph is undirected, but the edge from 0 to 1 has no reverse");
  EXPECT_EQ(refusal(graph_of(2, {{1, 1}}), "g.graph"),
            "tutti: a METIS graph has no self-loops, but vertex 1 has");
  EXPECT_EQ(refusal(graph_of(2, {{0, 1}, {0, 1}, {1, 0}, {1, 0}}), "g.graph"),
            "tutti: a METIS graph has no repeated edges, but vertex 0 has");
  EXPECT_EQ(
      refusal(graph_of(2, {{0, 1, 1}, {1, 0, 2}}, true), "g.graph"),
      "tutti: a METIS graph is undirected, but some edge's weight differs from its reverse's");
  EXPECT_NE(refusal(weighted, "g.xyz").find("does not name a format"), std::string::npos);
  csr broken = weighted;
  broken.targets[0] = 9;
  EXPECT_NE(refusal(broken, "g.wel").find("leads to vertex 9"), std::string::npos);
}

TEST(Save, AFileIsReplacedOrLeftAsItWas) {
  const scratch here;
  const std::string path = here.write("g.el", "what was there before");
  const csr graph = graph_of(2, {{0, 1}});
  save(graph, path);
  EXPECT_EQ(load(path), graph);
  EXPECT_EQ(here.files(), 1u);

  std::filesystem::create_symlink(path, here.path("link.el"));
  save(graph_of(3, {{2, 1}}), here.path("link.el"));
  EXPECT_TRUE(std::filesystem::is_symlink(here.path("link.el")));
  EXPECT_EQ(load(path), graph_of(3, {{2, 1}}));

  EXPECT_NE(
      error_of<file_error>([&] { save(graph, here.path("no/such/g.el")); }).find("No such file"),
      std::string::npos);
  EXPECT_THROW(save(graph, here.path("."), file_format::edge_list), file_error);
}

TEST(Save, AFullDiskIsAnErrorAndLeavesNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "SKIPPED: there is no /dev/full";
  const csr graph = generate("ring:vertices=100000");
  EXPECT_EQ(error_of<file_error>([&] { save(graph, "/dev/full", file_format::edge_list); }),
            "/dev/full: cannot be written: No space left on device");
  EXPECT_EQ(error_of<file_error>([&] { save_npy("/dev/full", std::vector<double>(1)); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST(SaveNpy, TheHeaderIsNumPys) {
  const scratch here;
  const std::vector<double> values = {1.5, -2, 3};
  save_npy(here.path("v.npy"), values);
  const std::string bytes = here.read("v.npy");
  ASSERT_EQ(bytes.size(), 128u + 24);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }   ");
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(std::memcmp(bytes.data() + 128, values.data(), 24), 0);

  save_npy(here.path("m.npy"), array_view(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}, 2));
  EXPECT_NE(here.read("m.npy").find("'|u1', 'fortran_order': False, 'shape': (3, 2), }"),
            std::string::npos);
  save_npy(here.path("e.npy"), std::vector<std::int32_t>());
  EXPECT_NE(here.read("e.npy").find("'<i4', 'fortran_order': False, 'shape': (0,), }"),
            std::string::npos);
}

TEST(SaveNpy, RefusesWhatIsNoArray) {
  const scratch here;
  const std::vector<double> five(5);
  EXPECT_THROW(save_npy(here.path("x.npy"), array_view(five, 2)), std::invalid_argument);
  EXPECT_THROW(save_npy(here.path("x.npy"), array_view(five, 0)), std::invalid_argument);
  array_view odd;
  odd.kind = 'c';
  EXPECT_THROW(save_npy(here.path("x.npy"), odd), std::invalid_argument);
  EXPECT_EQ(here.files(), 0u);
}

TEST(SaveCsv, NamesRowsAndShortestNumbers) {
  const scratch here;
  const std::vector<double> rank = {0.1, 1e300};
  const std::vector<float> heat = {0.1f, 2};
  const std::vector<std::int8_t> sign = {-1, 1};
  const std::vector<std::uint64_t> pairs = {1, 2, 3, 18446744073709551615u};
  save_csv(here.path("t.csv"),
           {{"rank", rank}, {"a,\"b\"", heat}, {"s", sign}, {"p", array_view(pairs, 2)}});
  EXPECT_EQ(here.read("t.csv"),
            "vertex,rank,\"a,\"\"b\"\"\",s,p_0,p_1\n0,0.1,0.1,-1,1,2\n1,1e+300,2,1,3,"
            "18446744073709551615\n");
  EXPECT_THROW(save_csv(here.path("u.csv"), {{"rank", rank}, {"pairs", pairs}}),
               std::invalid_argument);
  EXPECT_THROW(save_csv(here.path("u.csv"), std::span<const csv_column>()), std::invalid_argument);
  EXPECT_EQ(here.files(), 1u);
}

// A file that is written in portions is the one that is written at once.
TEST(SavePortions, MakeTheSameFiles) {
  const scratch here;
  const std::vector<double> rank = {0.5, 2, 3, 4, 5}, first(rank.begin(), rank.begin() + 2),
                            rest(rank.begin() + 2, rank.end());
  save_csv(here.path("all.csv"), {{"rank", rank}});
  save_npy(here.path("all.npy"), rank);
  csv_file table(here.path("t.csv"));
  npy_file array(here.path("t.npy"), 5, first);
  for (const auto& portion : {first, rest}) {
    const csv_column column{"rank", portion};
    table.add(std::span(&column, 1));
    array.add(portion);
  }
  EXPECT_FALSE(std::filesystem::exists(here.path("t.csv")));
  EXPECT_FALSE(std::filesystem::exists(here.path("t.npy")));
  table.commit();
  array.commit();
  EXPECT_EQ(here.read("t.csv"), here.read("all.csv"));
  EXPECT_EQ(here.read("t.npy"), here.read("all.npy"));
  EXPECT_EQ(here.files(), 4u);
}

TEST(SavePortions, RefuseOtherRows) {
  const scratch here;
  const std::vector<double> two(2);
  const std::vector<float> others(2);
  {
    npy_file array(here.path("t.npy"), 3, two);
    array.add(two);
    EXPECT_THROW(array.add(two), std::invalid_argument);
    EXPECT_THROW(array.add(others), std::invalid_argument);
    EXPECT_THROW(array.commit(), std::invalid_argument);
    csv_file table(here.path("t.csv"));
    const csv_column all[] = {{"a", two}, {"b", others}};
    table.add(all);
    EXPECT_THROW(table.add(std::span(all, 1)), std::invalid_argument);
    EXPECT_THROW(table.add({}), std::invalid_argument);
  }
  EXPECT_EQ(here.files(), 0u);
}

}  // namespace
}  // namespace tutti::graph::test
