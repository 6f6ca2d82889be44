// SPDX-License-Identifier: Apache-2.0
// The orders in which lists are gathered and written: in_lists and out_lists have each list once,
// where it belongs, whatever the numbers of lists and vertices.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/graph/vertex_runs.hpp"
#include "tests/support/refusal.hpp"
#include "tutti/graph/generate.hpp"
#include "tutti/graph/in_lists.hpp"
#include "tutti/graph/out_lists.hpp"
#include "tutti/graph/shards.hpp"

namespace {

using namespace tutti;
using graph::edge_t;
using graph::in_lists;
using graph::out_lists;
using graph::route;
using graph::vertex_t;
using test::expect_refused;

constexpr std::size_t block = in_lists::vertices_of_a_block;

// The lists that a reader finds for each vertex, and the sizes of their groups.
struct gathered {
  std::vector<std::vector<std::uint32_t>> lists;
  std::vector<std::vector<std::uint32_t>> sizes;
};
gathered read_all(const in_lists& all, std::size_t vertices) {
  gathered found{std::vector<std::vector<std::uint32_t>>(vertices),
                 std::vector<std::vector<std::uint32_t>>(vertices)};
  in_lists::reader from(all);
  for (std::size_t begin = 0; begin < vertices; begin += block) {
    std::pair<std::uint32_t, std::size_t> last{UINT32_MAX, 0};
    from.next_block([&](auto size, std::uint8_t owner, const std::uint32_t* lists) {
      // Groups of one size follow each other, by vertex.
      EXPECT_TRUE(size < last.first || (size == last.first && owner >= last.second));
      last = {size, owner};
      const std::size_t v = begin + owner;
      ASSERT_LT(v, vertices);
      found.lists[v].insert(found.lists[v].end(), lists, lists + size);
      found.sizes[v].push_back(size);
    });
  }
  return found;
}

void expect_each_list_once(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> lists(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  // Any numbers, so that one in a wrong place differs.
  std::mt19937 random(static_cast<unsigned>(lists.size()));
  for (std::uint32_t& list : lists) list = static_cast<std::uint32_t>(random());
  const in_lists made(counts, lists);
  EXPECT_EQ(made.empty(), lists.empty());
  const gathered found = read_all(made, counts.size());
  auto next = lists.begin();
  for (std::size_t v = 0; v < counts.size(); ++v) {
    const std::vector<std::uint32_t> expected(next, next + counts[v]);
    ASSERT_EQ(found.lists[v], expected) << "of vertex " << v << " with " << counts[v];
    next += counts[v];
    // All groups of 8 come first, then at most one of 4, 2 and 1.
    std::vector<std::uint32_t> sizes(counts[v] / 8, 8);
    for (const std::uint32_t size : {4u, 2u, 1u})
      if ((counts[v] & size) != 0) sizes.push_back(size);
    ASSERT_EQ(found.sizes[v], sizes) << "of vertex " << v;
  }
}

TEST(InLists, HaveEachListOnceForItsVertex) {
  // Each rest of a division by 8, alone and beside others.
  for (std::uint32_t count = 0; count <= 40; ++count) expect_each_list_once({count});
  std::vector<std::uint32_t> ascending(41);
  std::iota(ascending.begin(), ascending.end(), 0u);
  expect_each_list_once(ascending);
  std::reverse(ascending.begin(), ascending.end());
  expect_each_list_once(ascending);
  // Only groups of one size.
  for (const std::uint32_t count : {8u, 4u, 2u, 1u})
    expect_each_list_once(std::vector<std::uint32_t>(3, count));
  // One vertex with far more than all others.
  expect_each_list_once({1, 0, 100'003, 0, 2});
}

TEST(InLists, OfVerticesWithoutInEdges) {
  expect_each_list_once({});
  expect_each_list_once({0});
  expect_each_list_once({0, 0, 5, 0});
  // A block of them, first, between others and last.
  std::vector<std::uint32_t> counts(3 * block, 0);
  expect_each_list_once(counts);
  counts[block + 7] = 9;
  expect_each_list_once(counts);
  counts.front() = counts.back() = 3;
  expect_each_list_once(counts);
}

TEST(InLists, OfBlocksThatAreNotFull) {
  std::mt19937 random(5);
  for (const std::size_t vertices : {block - 1, block, block + 1, 2 * block, 3 * block + 17}) {
    std::vector<std::uint32_t> counts(vertices);
    for (std::uint32_t& count : counts) count = static_cast<std::uint32_t>(random() % 23);
    expect_each_list_once(counts);
  }
}

TEST(InLists, AreEqualIfTheyHaveTheSameLists) {
  const std::vector<std::uint32_t> counts{2, 3}, moved{3, 2};
  const in_lists some(counts, {1, 2, 3, 4, 5});
  EXPECT_EQ(some, in_lists(counts, {1, 2, 3, 4, 5}));
  EXPECT_NE(some, in_lists(counts, {1, 2, 3, 4, 6}));
  EXPECT_NE(some, in_lists(moved, {1, 2, 3, 4, 5}));
  EXPECT_NE(some, in_lists());
}

TEST(InLists, RefuseNumbersThatDoNotAddUp) {
  const std::vector<std::uint32_t> counts{2, 3}, none;
  for (const std::size_t lists : {0u, 4u, 6u})
    expect_refused([&] { in_lists(counts, std::vector<std::uint32_t>(lists)); }, "do not add up");
  expect_refused([&] { in_lists(none, {7}); }, "do not add up");
}

struct routes_of_vertices {
  std::vector<edge_t> first{0};
  std::vector<route> routes;
};

// Each vertex leads to some receivers, to none with the probability of 1 in 3.
routes_of_vertices random_routes(std::mt19937& random, std::size_t vertices, rank_t receivers) {
  routes_of_vertices made;
  std::vector<std::uint32_t> next(receivers);
  for (std::uint32_t& number : next) number = static_cast<std::uint32_t>(random() % 1000);
  for (std::size_t v = 0; v < vertices; ++v) {
    const bool leads = random() % 3 != 0;
    for (rank_t step = 0; leads && step < receivers; ++step)
      // The receivers do not come by their numbers; those of shards do not either.
      if (const rank_t to = (step + 3) % receivers; random() % 2 == 0)
        made.routes.push_back({to, next[to]++});
    made.first.push_back(made.routes.size());
  }
  return made;
}

void expect_the_routes(const out_lists& made, const std::vector<edge_t>& first,
                       const std::vector<route>& routes) {
  using target = std::pair<rank_t, std::uint32_t>;
  const std::size_t vertices = first.size() - 1;
  for (std::size_t begin = 0; begin < vertices; begin += block) {
    std::map<target, std::size_t> expected, found;
    std::uint32_t leading = 0;
    for (std::size_t v = begin; v < std::min(vertices, begin + block); ++v) {
      for (edge_t r = first[v]; r < first[v + 1]; ++r)
        expected[{routes[r].to, routes[r].list}] = v - begin;
      leading += first[v] != first[v + 1] ? 1 : 0;
    }
    const out_lists::block here = made.of(begin / block);
    EXPECT_EQ(here.leading, leading);
    const std::uint8_t* sender = here.senders;
    rank_t last = 0;
    for (const out_lists::stretch& each : here.stretches) {
      EXPECT_GE(each.to, last);
      last = each.to + 1;
      EXPECT_GT(each.count, 0u);
      for (std::uint32_t i = 0; i < each.count; ++i)
        EXPECT_TRUE(found.insert({{each.to, each.first + i}, *sender++}).second);
    }
    EXPECT_EQ(found, expected) << "in the block from " << begin;
  }
}

TEST(OutLists, AreTheRoutes) {
  std::mt19937 random(11);
  for (const std::size_t vertices :
       {std::size_t{1}, std::size_t{5}, block - 1, block, block + 1, 2 * block, 2 * block + 9})
    for (const rank_t receivers : {1u, 2u, 7u, 300u}) {
      const auto [first, routes] = random_routes(random, vertices, receivers);
      const out_lists made(first, routes, receivers);
      EXPECT_FALSE(made.empty());
      expect_the_routes(made, first, routes);
    }
}

TEST(OutLists, OfVerticesThatLeadNowhere) {
  const std::vector<edge_t> nobody{0}, none(2 * block + 1, 0);
  EXPECT_TRUE(out_lists(nobody, {}, 3).empty());
  EXPECT_TRUE(out_lists().empty());
  const out_lists made(none, {}, 3);
  for (const std::size_t number : {0u, 1u}) {
    EXPECT_TRUE(made.of(number).stretches.empty());
    EXPECT_EQ(made.of(number).leading, 0u);
  }
}

TEST(OutLists, AreRenumberedButForTheOwnOnes) {
  std::mt19937 random(12);
  auto [first, routes] = random_routes(random, block + 40, 3);
  out_lists made(first, routes, 3);
  made.renumber(1, std::vector<std::uint32_t>{100, 5000, 7});
  for (route& each : routes) each.list += each.to == 0 ? 100 : each.to == 2 ? 7 : 0;
  expect_the_routes(made, first, routes);
  EXPECT_EQ(made, out_lists(first, routes, 3));
}

TEST(OutLists, RefuseRoutesThatAreNot) {
  const auto refuse = [](const std::vector<edge_t>& first, const std::vector<route>& routes,
                         const char* part) {
    expect_refused([&] { out_lists(first, routes, 2); }, part);
  };
  refuse({}, {}, "do not add up");
  refuse({0, 1}, {}, "do not add up");
  refuse({1, 1}, {{0, 0}}, "do not add up");
  refuse({0, 1}, {{2, 0}}, "does not exist");
  refuse({0, 1, 2}, {{0, 4}, {0, 6}}, "not numbered in their order");
  refuse({0, 1, 2}, {{0, 4}, {0, 3}}, "not numbered in their order");
  EXPECT_NO_THROW(out_lists(std::vector<edge_t>{0, 1, 2}, std::vector<route>{{0, 4}, {0, 5}}, 2));
}

// Both kinds of lists say what the rest of a shard says, also if some participants have no vertex,
// and some vertices no edge that leads to them or from them.
TEST(Lists, AreThoseOfTheShard) {
  std::mt19937 random(13);
  for (const auto& [vertices, participants] :
       {std::pair<vertex_t, rank_t>{700, 1}, {700, 2}, {600, 5}, {5, 17}, {1, 3}, {0, 2}}) {
    graph::edge_list edges;
    for (vertex_t i = 0; i < 4 * vertices; ++i)
      edges.add(static_cast<vertex_t>(random() % vertices) / 2 * 2,
                static_cast<vertex_t>(random() % vertices) / 3 * 3);
    edges.vertices = vertices;
    const graph::csr g = graph::from_edges(std::move(edges));
    const graph::edge_set<graph::nothing> pins{&g, {}};
    const graph::shards<graph::nothing> cut(
        std::span(&pins, 1), test::dealt_owners(vertices, participants), participants, {}, 1, true);
    for (rank_t p = 0; p < participants; ++p) {
      SCOPED_TRACE("participant " + std::to_string(p) + " of " + std::to_string(participants));
      const auto& mine = cut[p];
      std::vector<std::vector<std::uint32_t>> expected(mine.vertices.size());
      for (std::uint32_t list = 0; list < mine.lists(); ++list)
        for (edge_t i = mine.first_target[list]; i < mine.first_target[list + 1]; ++i)
          expected[mine.targets[i]].push_back(list);
      EXPECT_EQ(read_all(mine.in_lists, mine.vertices.size()).lists, expected);
      expect_the_routes(mine.out_lists, mine.first_route, mine.routes);
    }
  }
}

}  // namespace
