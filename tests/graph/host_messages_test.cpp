// SPDX-License-Identifier: Apache-2.0
// host_messages keeps each time once for many messages; what it gives is what a vector of whole
// messages would give.
#include "tutti/graph/host_messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "tests/support/refusal.hpp"

namespace {

using namespace tutti;
using graph::host_messages;
using graph::vertex_t;

using whole = std::tuple<std::uint64_t, vertex_t, float>;

// Through the iterator, through [] and through at().
std::vector<whole> contents_of(const host_messages<float>& all) {
  std::vector<whole> found;
  for (const auto& [vertex, time, content] : all) found.emplace_back(time, vertex, content);
  EXPECT_EQ(found.size(), all.size());
  EXPECT_EQ(all.empty(), found.empty());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto m = all[i];
    EXPECT_EQ(whole(m.time, m.vertex, m.content), found[i]) << i;
    const auto same = all.at(i);
    EXPECT_EQ(whole(same.time, same.vertex, same.content), found[i]) << i;
  }
  return found;
}
host_messages<float> made_of(const std::vector<whole>& contents) {
  host_messages<float> all;
  for (const auto& [time, vertex, content] : contents) all.add(vertex, time, content);
  return all;
}

TEST(HostMessages, GiveWhatWasAdded) {
  EXPECT_EQ(contents_of({}), std::vector<whole>());
  for (const std::vector<whole>& each : {
           std::vector<whole>{{0, 0, 1.5f}},
           // Times that stay, rise, fall and come again; the largest.
           {{0, 3, 1}, {0, 2, 2}, {1, 2, 3}, {5, 0, 4}, {4, 9, 5}, {5, 9, 6}, {5, 9, 7}},
           {{UINT64_MAX, UINT32_MAX, 1}, {0, 0, 2}, {UINT64_MAX, 0, 3}},
       })
    EXPECT_EQ(contents_of(made_of(each)), each);
}

TEST(HostMessages, CanBeAppended) {
  const std::vector<whole> first{{1, 4, 1}, {2, 5, 2}}, same_time{{2, 1, 3}, {3, 1, 4}},
      other_time{{0, 1, 5}};
  for (const auto& a : {std::vector<whole>(), first, other_time})
    for (const auto& b : {std::vector<whole>(), same_time, other_time}) {
      host_messages<float> all = made_of(a);
      all.append(made_of(b));
      std::vector<whole> expected = a;
      expected.insert(expected.end(), b.begin(), b.end());
      EXPECT_EQ(contents_of(all), expected);
    }
}

TEST(HostMessages, AreSortedByTimeThenByVertexAndKeepTheOrderOfTheRest) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<whole> expected;
    host_messages<float> all;
    // Few vertices and times, so that many are equal; some trials are sorted from the beginning.
    const auto times = 1 + random() % 4, vertices = 1 + random() % 6;
    const std::size_t parts = random() % 4;
    for (std::size_t part = 0; part < parts; ++part) {
      std::vector<whole> more;
      for (std::size_t i = random() % 20; i > 0; --i)
        more.emplace_back(random() % times, static_cast<vertex_t>(random() % vertices),
                          static_cast<float>(expected.size() + more.size()));
      const auto by_key = [](const whole& a, const whole& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
      };
      if (trial % 3 == 0) std::stable_sort(more.begin(), more.end(), by_key);
      all.append(made_of(more));
      expected.insert(expected.end(), more.begin(), more.end());
    }
    EXPECT_EQ(contents_of(all), expected);
    std::stable_sort(expected.begin(), expected.end(), [](const whole& a, const whole& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    all.sort();
    EXPECT_EQ(contents_of(all), expected) << "trial " << trial;
    all.sort();
    EXPECT_EQ(contents_of(all), expected) << "sorted twice, trial " << trial;
  }
}

TEST(HostMessages, CanBeAddedToAfterSorting) {
  host_messages<float> all = made_of({{2, 1, 1}, {1, 1, 2}});
  all.sort();
  all.add(0, 2, 3);
  all.add(0, 7, 4);
  EXPECT_EQ(contents_of(all), (std::vector<whole>{{1, 1, 2}, {2, 1, 1}, {2, 0, 3}, {7, 0, 4}}));
}

TEST(HostMessages, ReserveChangesNothing) {
  host_messages<float> all;
  all.reserve(100);
  EXPECT_TRUE(all.empty());
  all.add(1, 2, 3);
  all.reserve(0);
  EXPECT_EQ(contents_of(all), (std::vector<whole>{{2, 1, 3}}));
}

TEST(HostMessages, IteratorsAreCopiedAndCompared) {
  const host_messages<float> all = made_of({{0, 1, 1}, {1, 2, 2}});
  auto it = all.begin();
  const auto old = it++;
  EXPECT_EQ(old, all.begin());
  EXPECT_NE(it, old);
  EXPECT_EQ((*it).time, 1u);
  EXPECT_EQ(++it, all.end());
  EXPECT_EQ(host_messages<float>().begin(), host_messages<float>().end());
}

TEST(HostMessages, RefuseWhatIsNotThere) {
  EXPECT_THROW(host_messages<float>().at(0), std::out_of_range);
  host_messages<float> all = made_of({{0, 1, 1}, {1, 2, 2}});
  EXPECT_NO_THROW(all.at(1));
  EXPECT_THROW(all.at(2), std::out_of_range);
  EXPECT_THROW(all.at(SIZE_MAX), std::out_of_range);
  test::expect_refused([&] { all.append(all); }, "cannot be added to itself");
  EXPECT_EQ(all.size(), 2u);
}

}  // namespace
