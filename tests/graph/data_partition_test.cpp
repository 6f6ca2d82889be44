// SPDX-License-Identifier: Apache-2.0
// Tests that partitions are complete, balanced and repeatable, and tests their quality and
// placement.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/graph/data_graphs.hpp"
#include "tutti/graph/partition.hpp"

namespace tutti::graph::test {
namespace {

std::vector<std::string> usable_methods() {
  std::vector<std::string> names;
  for (const partition_method& each : partition_methods())
    if (each.name != "metis" || has_metis()) names.emplace_back(each.name);
  return names;
}

TEST(Partition, EveryVertexIsInOnePartOnAnyGraph) {
  auto graphs = odd_graphs();
  graphs.push_back({"no edges", generate("empty:vertices=10")});
  graphs.push_back({"only loops", graph_of(9, {{0, 0}, {3, 3}, {8, 8}})});
  graphs.push_back({"star", generate("star:vertices=40")});
  for (const std::string& method : usable_methods())
    for (const auto& [name, graph] : graphs)
      for (const rank_t parts : {1u, 2u, 3u, 7u, 64u}) {
        const auto part = partition(graph, parts, method);
        ASSERT_EQ(part.size(), graph.vertices) << method << ", " << name;
        for (const rank_t each : part) ASSERT_LT(each, parts) << method << ", " << name;
        EXPECT_EQ(partition(graph, parts, method), part) << method << ", " << name;
      }
}

TEST(Partition, SizesAreAsPromised) {
  for (const char* specification :
       {"geometric:vertices=5000,degree=8", "kron:scale=12", "star:vertices=1000"}) {
    const csr graph = generate(specification);
    for (const std::string& method : usable_methods())
      for (const rank_t parts : {2u, 5u, 16u}) {
        const partition_quality q = measure(graph, partition(graph, parts, method), parts);
        const double mean = static_cast<double>(graph.vertices) / parts;
        if (method == "blocks") {
          EXPECT_LE(q.largest - q.smallest, 1u);
        } else if (method == "fennel" || method == "ldg") {
          EXPECT_LE(q.largest, std::max(std::ceil(mean), 1.05 * mean)) << method << specification;
        } else if (method == "metis") {
          EXPECT_LE(q.imbalance, 1.12) << specification << parts;
        } else if (method == "random") {
          EXPECT_LE(q.largest, mean + 6 * std::sqrt(mean)) << specification;
        }
      }
  }
}

TEST(Partition, EdgeBlocksBalanceEdgesWhereBlocksDoNot) {
  const csr graph = generate("kron:scale=12,scramble=0");
  const auto imbalance = [&](const char* method) {
    return measure(graph, partition(graph, 8, method), 8).edge_imbalance;
  };
  EXPECT_GT(imbalance("blocks"), 3);
  EXPECT_LT(imbalance("edge-blocks"), 1.1);
  // If all vertices have equally many edges, the two methods agree.
  const csr ring = generate("ring:vertices=800");
  EXPECT_EQ(partition(ring, 8, "edge-blocks"), partition(ring, 8, "blocks"));
}

TEST(Partition, BetterMethodsCutLess) {
  const csr graph = generate("geometric:vertices=8000,degree=10,order=random");
  const auto cut = [&](const std::string& method) {
    return measure(graph, partition(graph, 8, method), 8).cut_share;
  };
  EXPECT_NEAR(cut("random"), 7.0 / 8, 0.02);
  EXPECT_NEAR(cut("blocks"), 7.0 / 8, 0.02);
  EXPECT_LT(cut("fennel"), 0.6);
  EXPECT_LT(cut("ldg"), 0.6);
  EXPECT_EQ(cut("streaming"), cut("fennel"));
  if (has_metis()) {
    EXPECT_LT(cut("metis"), 0.06);
  }
  const csr near = generate("geometric:vertices=8000,degree=10");
  EXPECT_LT(measure(near, partition(near, 8, "blocks"), 8).cut_share, 0.12);
}

TEST(Partition, MorePassesCutLess) {
  const csr graph = generate("geometric:vertices=8000,degree=10,order=random");
  for (const char* method : {"fennel", "ldg"}) {
    const auto cut = [&](unsigned passes) {
      return measure(graph, partition(graph, 8, method, {.passes = passes}), 8).cut;
    };
    EXPECT_LT(cut(2), cut(1)) << method;
    EXPECT_LT(cut(6), cut(2)) << method;
  }
  EXPECT_THROW(partition(graph, 8, "ldg", {.passes = 0}), std::invalid_argument);
}

TEST(Partition, TwoClumpsAreFound) {
  edge_list list;
  for (vertex_t u = 0; u < 40; ++u)
    for (vertex_t v = 0; v < 40; ++v)
      if (u != v && u % 2 == v % 2) list.add(u, v);
  list.add(0, 1);
  list.add(1, 0);
  const csr graph = from_edges(std::move(list));
  for (const std::string method : {"fennel", "metis"}) {
    if (method == "metis" && !has_metis()) continue;
    EXPECT_EQ(measure(graph, partition(graph, 2, method), 2).cut, 2u) << method;
  }
}

TEST(Partition, SeedsChangeWhatIsRandom) {
  const csr graph = generate("uniform:vertices=1000");
  EXPECT_NE(partition(graph, 4, "random", {.seed = 1}), partition(graph, 4, "random", {.seed = 2}));
}

TEST(Partition, RefusesWhatMakesNoSense) {
  const csr graph = generate("ring:vertices=8");
  EXPECT_THROW(partition(graph, 0), std::invalid_argument);
  EXPECT_EQ(error_of<std::invalid_argument>([&] { partition(graph, 2, "best"); }),
            "tutti: unknown partition method 'best' (known: blocks, edge-blocks, random, fennel, "
            "ldg, metis)");
  for (const double slack : {-0.1, 101.0, std::nan("")})
    EXPECT_THROW(partition(graph, 2, "ldg", {.slack = slack}), std::invalid_argument);
  if (!has_metis()) {
    EXPECT_EQ(error_of<std::runtime_error>([&] { partition(graph, 2, "metis"); }),
              "tutti: partition method 'metis': this tutti was built without METIS");
  }
}

TEST(Partition, WithoutMetisItSaysSo) {
  if (!has_metis()) GTEST_SKIP() << "SKIPPED: built without METIS (libmetis-dev)";
  EXPECT_NO_THROW(partition(generate("ring:vertices=8"), 2, "metis"));
}

TEST(Measure, CountsByHand) {
  //   part 0: 0 1    part 1: 2    part 2: empty    part 3: 3
  const csr graph = graph_of(4, {{0, 1}, {0, 2}, {0, 2}, {0, 3}, {1, 2}, {2, 0}, {3, 3}});
  const std::vector<rank_t> part = {0, 0, 1, 3};
  const partition_quality q = measure(graph, part, 4);
  EXPECT_EQ(q.cut, 5u);
  EXPECT_DOUBLE_EQ(q.cut_share, 5.0 / 7);
  // 0 in part 1 and in part 3, 1 in part 1, 2 in part 0.
  EXPECT_EQ(q.halo, 4u);
  // Part 1 gets 0 and 1.
  EXPECT_EQ(q.largest_halo, 2u);
  EXPECT_EQ(q.largest, 2u);
  EXPECT_EQ(q.smallest, 0u);
  EXPECT_EQ(q.empty, 1u);
  EXPECT_DOUBLE_EQ(q.imbalance, 2);
  EXPECT_DOUBLE_EQ(q.edge_imbalance, 5 * 4 / 7.0);
  EXPECT_EQ(quotient(graph, part, 4), graph_of(4, {{0, 1, 3}, {0, 3, 1}, {1, 0, 1}}, true));

  EXPECT_THROW(measure(graph, std::vector<rank_t>{0, 0, 1}, 4), std::invalid_argument);
  EXPECT_EQ(error_of<std::invalid_argument>([&] { measure(graph, part, 3); }),
            "tutti: vertex 3 is in part 3 of 3");
  EXPECT_EQ(measure(csr(), {}, 3).empty, 3u);
}

TEST(OrderByPart, PutsPartsSideBySideInTheirOldOrder) {
  EXPECT_EQ(order_by_part(std::vector<rank_t>{1, 0, 1, 0, 2}, 3),
            (std::vector<vertex_t>{2, 0, 3, 1, 4}));
  const csr graph = generate("geometric:vertices=500,degree=6");
  const auto part = partition(graph, 4, "fennel");
  const csr ordered = relabelled(graph, order_by_part(part, 4));
  std::vector<rank_t> sorted_part = part;
  std::sort(sorted_part.begin(), sorted_part.end());
  EXPECT_EQ(measure(ordered, sorted_part, 4).cut, measure(graph, part, 4).cut);
}

bool is_permutation_of_ranks(std::vector<rank_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::vector<rank_t> all(ranks.size());
  std::iota(all.begin(), all.end(), 0);
  return ranks == all;
}

TEST(Place, PutsTalkersTogether) {
  // The pairs (0, 4), (1, 5), ... exchange much, neighbours little.
  edge_list list;
  for (vertex_t p = 0; p < 8; ++p) {
    list.add(p, (p + 4) % 8, 100);
    list.add(p, (p + 1) % 8, 1);
  }
  const csr parts = from_edges(std::move(list));
  const auto rank = place(parts, 2);
  EXPECT_TRUE(is_permutation_of_ranks(rank));
  for (vertex_t p = 0; p < 4; ++p) EXPECT_EQ(rank[p] / 2, rank[p + 4] / 2) << p;
  EXPECT_DOUBLE_EQ(between_groups(parts, rank, 2), 8);
}

TEST(Place, IsNeverWorseThanTheOrderGiven) {
  for (const char* specification :
       {"uniform:vertices=33,degree=3,weights=integer", "grid:width=8,height=8,weights=integer",
        "ring:vertices=50,weights=one", "complete:vertices=12,weights=integer"})
    for (const rank_t group : {1u, 2u, 4u, 7u, 100u, ~0u}) {
      const csr parts = generate(specification);
      std::vector<rank_t> given(parts.vertices);
      std::iota(given.begin(), given.end(), 0);
      const auto rank = place(parts, group);
      EXPECT_TRUE(is_permutation_of_ranks(rank));
      EXPECT_LE(between_groups(parts, rank, group), between_groups(parts, given, group))
          << specification;
    }
  EXPECT_TRUE(place(csr(), 4).empty());
}

TEST(Place, TakesNegativeWeights) {
  edge_list list;
  list.add(0, 1, -5);
  list.add(1, 0, -5);
  list.add(1, 2, -7);
  const csr parts = from_edges(std::move(list));
  for (const rank_t group : {1u, 2u, 3u})
    EXPECT_TRUE(is_permutation_of_ranks(place(parts, group))) << group;
}

TEST(Place, RefusesWhatMakesNoSense) {
  const csr parts = generate("ring:vertices=8");
  EXPECT_THROW(place(parts, 2), std::invalid_argument);
  EXPECT_THROW(place(generate("ring:vertices=8,weights=one"), 0), std::invalid_argument);
}

}  // namespace
}  // namespace tutti::graph::test
