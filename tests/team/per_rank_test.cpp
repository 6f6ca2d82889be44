// SPDX-License-Identifier: Apache-2.0
// Tests memory for each rank: the rank makes it on its own pages, and it is destroyed with its
// owner.

#include "tutti/team/per_rank.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/team/teams.hpp"

namespace {

using tutti::per_rank;
using tutti::rank_t;
using tutti::team;

std::uintptr_t page_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p) / 4096; }

class PerRank : public testing::TestWithParam<tutti::test::shape> {};
INSTANTIATE_TEST_SUITE_P(Few, PerRank, testing::ValuesIn(tutti::test::few_shapes()),
                         tutti::test::name_of_shape);

TEST_P(PerRank, IsZeroAndSharesNoPage) {
  team t(GetParam().options());
  for (const std::size_t count : {1u, 100u, 512u, 513u, 5000u}) {
    per_rank<double> memory(t, count);
    ASSERT_EQ(memory.size(), t.size());
    for (rank_t r = 0; r < t.size(); ++r) {
      ASSERT_EQ(memory[r].size(), count);
      for (const double x : memory[r]) ASSERT_EQ(x, 0.0);
      for (rank_t other = 0; other < r; ++other) {
        const bool is_apart = page_of(&memory[r].front()) > page_of(&memory[other].back()) ||
                              page_of(&memory[r].back()) < page_of(&memory[other].front());
        ASSERT_TRUE(is_apart) << r << " and " << other;
      }
    }
    t.run([&](tutti::member& me) {
      for (double& x : memory[me.rank()]) x = me.rank();
    });
    const per_rank<double>& seen = memory;
    for (rank_t r = 0; r < t.size(); ++r) EXPECT_EQ(seen[r].back(), r);
  }
}

TEST_P(PerRank, IsWholeWhenMadeInsideARegion) {
  team t(GetParam().options());
  t.run([&](tutti::member& me) {
    if (me.rank() != me.size() - 1) return;
    const per_rank<int> memory(t, 3);
    for (rank_t r = 0; r < t.size(); ++r) EXPECT_EQ(memory[r].size(), 3u);
  });
}

struct counted {
  static inline std::atomic<int> alive{0}, made{0};
  static inline std::atomic<int> fails_at{-1};
  std::thread::id maker = std::this_thread::get_id();
  counted() {
    if (made++ == fails_at) throw std::runtime_error("no more");
    ++alive;
  }
  ~counted() { --alive; }
};

TEST(PerRanks, ElementsAreMadeByTheirRankAndDestroyed) {
  team t(3);
  {
    per_rank<counted> memory(t, 10);
    EXPECT_EQ(counted::alive, 30);
    t.run([&](tutti::member& me) {
      for (const counted& c : memory[me.rank()]) EXPECT_EQ(c.maker, std::this_thread::get_id());
    });
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(PerRanks, LeaveNothingWhenAConstructorThrows) {
  for (const rank_t ranks : {3u, 8u}) {
    team t({.threads = 3, .ranks = ranks});
    counted::made = 0;
    counted::fails_at = 17;
    EXPECT_THROW(per_rank<counted>(t, 10), std::runtime_error);
    EXPECT_EQ(counted::alive, 0);
    counted::fails_at = -1;
    tutti::test::expect_works(t);
  }
}

TEST(PerRanks, TooLargeIsAnError) {
  team t(2);
  EXPECT_THROW(per_rank<double>(t, SIZE_MAX / 8), std::bad_alloc);
// The sanitizers end the program instead of throwing.
#ifndef TUTTI_TEST_SANITIZED
  EXPECT_THROW(per_rank<double>(t, std::size_t{1} << 58), std::bad_alloc);
#endif
  tutti::test::expect_works(t);
}

TEST(PerRanks, OfNothingAreEmpty) {
  team t(2);
  const per_rank<int> memory(t, 0);
  EXPECT_TRUE(memory[0].empty());
  EXPECT_TRUE(memory[1].empty());
}

}  // namespace
