// SPDX-License-Identifier: Apache-2.0
// Tests the checker of traces: it accepts good traces and refuses each kind of bad one.

#include "tests/conformance/trace.hpp"

#include <gtest/gtest.h>

namespace {

using tutti::rank_t;
using tutti::test::check;
using tutti::test::check_crowd;
using tutti::test::passage;
using tutti::test::trace;

// In every episode all arrive, rank by rank, then all leave.
trace good(rank_t n, std::uint64_t episodes) {
  trace t;
  std::uint64_t now = 0;
  for (std::uint64_t e = 0; e < episodes; ++e) {
    for (rank_t r = 0; r < n; ++r) t.push_back({r, e, now++, 0});
    for (rank_t r = 0; r < n; ++r) t[static_cast<std::size_t>(e * n + r)].leave = now++;
  }
  return t;
}

void expect_refused(const trace& t, rank_t n, std::uint64_t episodes, const char* why) {
  EXPECT_EQ(check(t, n, episodes).rfind(why, 0), 0u) << check(t, n, episodes);
}

TEST(Trace, TakesGoodOnes) {
  for (rank_t n = 1; n <= 5; ++n)
    for (std::uint64_t episodes = 0; episodes <= 4; ++episodes)
      EXPECT_EQ(check(good(n, episodes), n, episodes), "");
}

TEST(Trace, TakesAParticipantThatHurriesOn) {
  trace t = good(2, 2);
  // Rank 0 left episode 0 at 2 and is in the next one before rank 1 leaves at 3.
  t[2].arrive = 2;
  EXPECT_EQ(check(t, 2, 2), "");
}

TEST(Trace, RefusesAnEarlyLeaver) {
  trace t = good(3, 2);
  // This is before ranks 1 and 2 have arrived.
  t[3].leave = t[3].arrive;
  expect_refused(t, 3, 2, "left too early: participant 0 in episode 1");
}

TEST(Trace, RefusesALostParticipant) {
  trace t = good(3, 2);
  t.erase(t.begin() + 4);
  expect_refused(t, 3, 2, "lost: participant 1 in episode 1");
  t = good(3, 2);
  expect_refused(t, 3, 3, "lost: participant 0 in episode 2");
  expect_refused({}, 1, 1, "lost: participant 0 in episode 0");
}

TEST(Trace, RefusesAnExtraParticipantOrEpisode) {
  expect_refused(good(3, 2), 2, 2, "extra: participant 2 in episode 0");
  expect_refused(good(3, 2), 3, 1, "extra: participant 0 in episode 1");
  trace t = good(3, 2);
  t.push_back(t[1]);
  expect_refused(t, 3, 2, "twice: participant 1 in episode 0");
}

TEST(Trace, RefusesImpossibleStamps) {
  trace t = good(2, 1);
  t[0].leave = 0;
  t[0].arrive = 1;
  expect_refused(t, 2, 1, "left before it arrived: participant 0");
  t = good(2, 2);
  t[2].arrive = 1;
  expect_refused(t, 2, 2, "arrived before it had left the episode before: participant 0");
}

TEST(CrowdTrace, TakesAnyThreads) {
  EXPECT_EQ(check_crowd(good(3, 4), 3), "");
  EXPECT_EQ(check_crowd({}, 3), "");
  // Two episodes of a barrier for 2, by four different threads; the second is over before thread 0
  // leaves the first.
  EXPECT_EQ(check_crowd({{0, 0, 0, 9}, {1, 0, 1, 2}, {2, 0, 3, 5}, {3, 0, 4, 6}}, 2), "");
}

TEST(CrowdTrace, RefusesEarlyLeaversAndHalfEpisodes) {
  EXPECT_EQ(check_crowd({{0, 0, 0, 1}, {1, 0, 2, 3}}, 2).rfind("left too early: participant 0", 0),
            0u);
  EXPECT_EQ(check_crowd({{0, 0, 5, 1}, {1, 0, 2, 3}}, 2).rfind("left before it arrived", 0), 0u);
  EXPECT_NE(check_crowd({{0, 0, 0, 1}}, 2), "");
  // A third thread passes because of an episode that was already complete.
  EXPECT_NE(check_crowd({{0, 0, 0, 2}, {1, 0, 1, 3}, {2, 0, 4, 5}, {3, 0, 6, 7}}, 2), "");
}

}  // namespace
