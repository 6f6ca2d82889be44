// SPDX-License-Identifier: Apache-2.0
// The schedules as arithmetic: partners mirror each other, rounds are as few as the papers say, and
// a table that is run to its end leaves every rank informed, for every n up to 512.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/unit/simulate.hpp"
#include "tutti/schedule/fan_in.hpp"
#include "tutti/schedule/hierarchy.hpp"
#include "tutti/schedule/table.hpp"
#include "tutti/schedule/tournament.hpp"

namespace schedule = tutti::schedule;
using tutti::rank_t;
using tutti::test::simulate;

namespace {

constexpr rank_t most = tutti::test::most_participants;
constexpr rank_t knock_out_most = 64;

// All must depart, each informed of all; with one absent none may depart.
void expect_synchronizes(const schedule::table& table) {
  const auto n = static_cast<rank_t>(table.size());
  EXPECT_EQ(simulate(table), n) << "participants that departed knowing of all, n = " << n;
  if (n < 2 || n > knock_out_most) return;
  for (rank_t absent = 0; absent < n; ++absent)
    EXPECT_EQ(simulate(table, absent).departed, 0u) << "without rank " << absent << " of " << n;
}

rank_t power(rank_t base, rank_t exponent) {
  rank_t result = 1;
  for (; exponent > 0; --exponent) result *= base;
  return result;
}

TEST(CeilLog, IsTheSmallestExponent) {
  for (rank_t base = 2; base <= 8; ++base)
    for (rank_t n = 1; n <= most; ++n) {
      const rank_t rounds = schedule::ceil_log(n, base);
      EXPECT_GE(power(base, rounds), n);
      if (rounds > 0) {
        EXPECT_LT(power(base, rounds - 1), n);
      }
    }
}

class Radix : public testing::TestWithParam<rank_t> {};
INSTANTIATE_TEST_SUITE_P(Of2To8, Radix, testing::Range(rank_t{2}, rank_t{9}));

TEST_P(Radix, DisseminationPartnersMirrorEachOther) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::dissemination s(n, GetParam());
    for (rank_t round = 0; round < s.rounds(); ++round)
      for (rank_t rank = 0; rank < n; ++rank)
        for (rank_t j = 1; j <= s.partners(round); ++j) {
          const rank_t to = s.to(round, rank, j);
          ASSERT_LT(to, n);
          ASSERT_NE(to, rank);
          ASSERT_EQ(s.from(round, to, j), rank);
          ASSERT_EQ(s.to(round, s.from(round, rank, j), j), rank);
        }
  }
}

TEST_P(Radix, DisseminationTakesTheFewestRounds) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::dissemination s(n, GetParam());
    EXPECT_EQ(s.participants(), n);
    EXPECT_EQ(s.radix(), GetParam());
    EXPECT_EQ(s.rounds(), schedule::ceil_log(n, GetParam()));
    for (rank_t round = 0; round < s.rounds(); ++round) {
      EXPECT_EQ(s.hop(round), power(GetParam(), round));
      EXPECT_GE(s.partners(round), 1u);
      EXPECT_LT(s.partners(round), GetParam());
    }
  }
}

TEST_P(Radix, DisseminationTellsAllOfAll) {
  for (rank_t n = 1; n <= most; ++n)
    expect_synchronizes(schedule::compile(schedule::dissemination(n, GetParam())));
}

TEST_P(Radix, TreeChildrenAndParentsMirrorEachOther) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::tree t(n, GetParam());
    rank_t children = 0;
    for (rank_t rank = 0; rank < n; ++rank) {
      ASSERT_LE(t.children(rank), GetParam());
      children += t.children(rank);
      for (rank_t place = 0; place < t.children(rank); ++place) {
        const rank_t child = t.child(rank, place);
        ASSERT_LT(child, n);
        ASSERT_EQ(t.parent(child), rank);
        ASSERT_EQ(t.place(child), place);
      }
    }
    ASSERT_EQ(children, n - 1) << "everybody but the root is somebody's child";
  }
}

TEST_P(Radix, TreeIsAsShallowAsItsFanAllows) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::tree t(n, GetParam());
    // The ranks in a complete tree of the depth so far.
    std::uint64_t full = 1;
    rank_t depth = 0;
    for (std::uint64_t level = GetParam(); full < n; level *= GetParam(), ++depth) full += level;
    EXPECT_EQ(t.depth(), depth) << "n = " << n;
  }
}

TEST_P(Radix, TreesTellAllOfAllForEveryFanOut) {
  // Every n with the fan-outs of the classic algorithms, and every fan-out with a sample of n that
  // has no pattern.
  for (rank_t n = 1; n <= most; ++n)
    expect_synchronizes(
        schedule::compile(schedule::tree(n, GetParam()), schedule::tree(n, n % 7 + 2)));
  for (rank_t fan_out = 2; fan_out <= 8; ++fan_out)
    for (rank_t n = 1; n <= most; n += 1 + n / 3)
      expect_synchronizes(
          schedule::compile(schedule::tree(n, GetParam()), schedule::tree(n, fan_out)));
}

TEST(Tournament, EveryRankButTheChampionLosesOnceToALowerOne) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::tournament t(n);
    EXPECT_EQ(t.rounds(), schedule::ceil_log(n, 2));
    EXPECT_EQ(t.rounds_won(0), t.rounds());
    std::set<rank_t> beaten;
    for (rank_t rank = 0; rank < n; ++rank)
      for (rank_t round = 0; round < t.rounds_won(rank); ++round) {
        if (!t.has_opponent(round, rank)) continue;
        const rank_t loser = t.opponent(round, rank);
        ASSERT_LT(loser, n);
        ASSERT_EQ(t.winner_over(loser), rank);
        ASSERT_EQ(t.rounds_won(loser), round);
        ASSERT_TRUE(beaten.insert(loser).second) << loser << " lost twice";
      }
    ASSERT_EQ(beaten.size(), n - 1);
  }
}

// The barriers stop at the first bye, so there must be no opponent in a later round.
TEST(Tournament, NoOpponentAfterTheFirstBye) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::tournament t(n);
    for (rank_t rank = 0; rank < n; ++rank) {
      bool bye = false;
      for (rank_t round = 0; round < t.rounds_won(rank); ++round) {
        ASSERT_FALSE(bye && t.has_opponent(round, rank));
        bye = bye || !t.has_opponent(round, rank);
      }
    }
  }
}

TEST(Tournament, TellsAllOfAll) {
  for (rank_t n = 1; n <= most; ++n)
    expect_synchronizes(schedule::compile(schedule::tournament(n)));
}

TEST(Hypercube, PartnersMirrorEachOtherAndTheRestIsFolded) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::hypercube s(n);
    ASSERT_LE(s.corners(), n);
    ASSERT_GT(2 * s.corners(), n);
    ASSERT_EQ(power(2, s.rounds()), s.corners());
    for (rank_t rank = 0; rank < n; ++rank) {
      if (s.is_folded(rank)) {
        ASSERT_LT(s.corner_of(rank), s.corners());
        ASSERT_TRUE(s.has_folded(s.corner_of(rank)));
        ASSERT_EQ(s.folded_of(s.corner_of(rank)), rank);
        continue;
      }
      for (rank_t round = 0; round < s.rounds(); ++round) {
        const rank_t partner = s.partner(round, rank);
        ASSERT_LT(partner, s.corners());
        ASSERT_EQ(s.partner(round, partner), rank);
      }
    }
  }
}

TEST(Hypercube, TellsAllOfAll) {
  for (rank_t n = 1; n <= most; ++n) expect_synchronizes(schedule::compile(schedule::hypercube(n)));
}

// The simulator must detect what it is made for.
TEST(Simulate, SeesAMissingSignal) {
  for (rank_t n = 2; n <= 17; ++n) {
    auto table = schedule::compile(schedule::dissemination(n));
    table[n / 2].front().signal.pop_back();
    EXPECT_NE(simulate(table), n);
  }
}

TEST(Simulate, SeesARoundTooFew) {
  for (rank_t n = 3; n <= 17; ++n) {
    auto table = schedule::compile(schedule::dissemination(n));
    for (auto& program : table) {
      program.pop_back();
      program.back().signal.clear();
    }
    const auto seen = simulate(table);
    EXPECT_EQ(seen.departed, n);
    EXPECT_EQ(seen.informed, 0u);
  }
}

void expect_partition(const schedule::hierarchy& h, rank_t n) {
  ASSERT_EQ(h.participants(), n);
  rank_t sum = 0;
  for (rank_t group = 0; group < h.groups(); ++group) {
    ASSERT_GE(h.size(group), 1u);
    ASSERT_EQ(h.leader(group), sum) << "consecutive ranks";
    ASSERT_TRUE(h.is_leader(h.leader(group)));
    for (rank_t i = 0; i < h.size(group); ++i) {
      ASSERT_EQ(h.group(sum + i), group);
      ASSERT_EQ(h.is_leader(sum + i), i == 0);
    }
    sum += h.size(group);
  }
  ASSERT_EQ(sum, n);
}

TEST_P(Radix, HierarchyPartitionsTheRanks) {
  for (rank_t n = 1; n <= most; ++n) {
    const schedule::hierarchy h(n, GetParam());
    expect_partition(h, n);
    ASSERT_EQ(h.groups(), schedule::ceil_div(n, GetParam()));
    for (rank_t group = 0; group + 1 < h.groups(); ++group) ASSERT_EQ(h.size(group), GetParam());
  }
}

TEST(Hierarchy, TakesGroupsOfUnequalSizes) {
  for (rank_t groups = 1; groups <= 31; ++groups) {
    std::vector<rank_t> sizes;
    rank_t n = 0;
    for (rank_t g = 0; g < groups; ++g) n += sizes.emplace_back(1 + g * 7 % 5);
    const schedule::hierarchy h(sizes);
    expect_partition(h, n);
    for (rank_t g = 0; g < groups; ++g) EXPECT_EQ(h.size(g), sizes[g]);
  }
}

// ---- the one order of all reductions

// An operation that shows in which order it was applied.
std::string paired(const std::string& a, const std::string& b) { return "(" + a + "+" + b + ")"; }

// The values that the ranks of a tournament hold when each round's losers have reported.
std::string by_tournament(rank_t n) {
  const schedule::tournament t(n);
  std::vector<std::string> held;
  for (rank_t rank = 0; rank < n; ++rank) held.push_back(std::to_string(rank));
  for (rank_t round = 0; round < t.rounds(); ++round)
    for (rank_t rank = 0; rank < n; ++rank)
      if (t.rounds_won(rank) > round && t.has_opponent(round, rank))
        held[rank] = paired(held[rank], held[t.opponent(round, rank)]);
  return held[0];
}

TEST(Fold, CombinesAsTheTournamentDoes) {
  const auto name = [](rank_t rank) { return std::to_string(rank); };
  EXPECT_EQ(schedule::fold(0, 5, name, paired), "(((0+1)+(2+3))+4)");
  EXPECT_EQ(schedule::fold(3, 2, name, paired), "(3+4)") << "from any first";
  for (rank_t n = 1; n <= 40; ++n)
    EXPECT_EQ(schedule::fold(0, n, name, paired), by_tournament(n)) << "n = " << n;
}

class FanIn : public testing::TestWithParam<rank_t> {};
INSTANTIATE_TEST_SUITE_P(Fans, FanIn, testing::Values(2, 4, 8, 16, 64));

TEST_P(FanIn, EverybodyReportsOnceToWhoeverCollects) {
  for (rank_t n = 1; n <= 300; ++n) {
    const schedule::fan_in tree(n, GetParam());
    EXPECT_EQ(tree.participants(), n);
    EXPECT_EQ(tree.rounds(), schedule::ceil_log(n, GetParam()));
    EXPECT_EQ(tree.rounds_collected(0), tree.rounds());
    std::vector<rank_t> reports(n);
    for (rank_t rank = 0; rank < n; ++rank)
      for (rank_t round = 0; round < tree.rounds_collected(rank); ++round) {
        ASSERT_LT(tree.children(round, rank), GetParam());
        for (rank_t i = 0; i < tree.children(round, rank); ++i) {
          const rank_t child = tree.child(round, rank, i);
          ASSERT_LT(child, n);
          ++reports[child];
          ASSERT_EQ(tree.rounds_collected(child), round) << "it has its subtree together by then";
        }
      }
    for (rank_t rank = 0; rank < n; ++rank) ASSERT_EQ(reports[rank], rank == 0 ? 0u : 1u);
  }
}

// Values combined on the way up a fan-in tree, as in tree_reduction and fork_join.
std::string by_fan_in(const schedule::fan_in& tree, rank_t rank) {
  std::string sum = std::to_string(rank);
  for (rank_t round = 0; round < tree.rounds_collected(rank); ++round)
    sum = schedule::fold(
        0, tree.children(round, rank) + 1,
        [&](rank_t i) { return i == 0 ? sum : by_fan_in(tree, tree.child(round, rank, i - 1)); },
        paired);
  return sum;
}

TEST_P(FanIn, CombinesAsTheTournamentDoes) {
  for (rank_t n = 1; n <= 40; ++n)
    EXPECT_EQ(by_fan_in(schedule::fan_in(n, GetParam()), 0), by_tournament(n)) << "n = " << n;
}

// Only powers of two make subtrees of the tournament; with another fan the order must differ.
TEST(FanIns, OfThreeWouldNotBeATournament) {
  EXPECT_NE(by_fan_in(schedule::fan_in(9, 3), 0), by_tournament(9));
}

}  // namespace
