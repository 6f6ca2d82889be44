// SPDX-License-Identifier: Apache-2.0
// Tests the count of the participants that have dropped out of a barrier, one call after the other;
// tests/model/barrier.cpp checks it with threads.
#include "tutti/barrier/drops.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tutti/platform/native.hpp"

namespace {

class counted_drops : public tutti::drops<tutti::native> {
 public:
  // For a participant that arrives in `phase` and is not held up.
  tutti::rank_t before(std::uint64_t phase) { return drops::before(phase, look()); }
  using drops::before;
};

TEST(Drops, CountFromThePhaseAfterTheLastArrival) {
  counted_drops drops;
  EXPECT_EQ(drops.before(0), 0u);
  drops.note(7);
  drops.note(7);
  EXPECT_EQ(drops.before(7), 0u) << "they still count in their last phase";
  EXPECT_EQ(drops.before(8), 2u);
  drops.note(8);
  EXPECT_EQ(drops.before(8), 2u);
  EXPECT_EQ(drops.before(9), 3u);
  EXPECT_EQ(drops.before(1000), 3u);
}

// The first arrival of a phase may be held up after it has arrived, until the phase has ended and
// another has dropped out in the next one.
TEST(Drops, DoNotCountForAPhaseThatHasEnded) {
  counted_drops drops;
  drops.note(1);
  const auto seen = drops.look();
  drops.note(2);
  EXPECT_EQ(drops.before(1, seen), 0u);
  EXPECT_EQ(drops.before(2), 1u);
  EXPECT_EQ(drops.before(3), 2u);
}

TEST(Drops, AreNotTakenForThoseOfAPhaseWhoseNumberLooksTheSame) {
  constexpr std::uint64_t round = std::uint64_t{1} << 32;
  counted_drops drops;
  drops.note(5);
  EXPECT_EQ(drops.before(6), 1u);
  EXPECT_EQ(drops.before(5 + round), 1u);
  drops.note(5 + round);
  EXPECT_EQ(drops.before(5 + round), 1u);
  EXPECT_EQ(drops.before(6 + round), 2u);
}

TEST(Drops, AsManyAsThereMayBeParticipants) {
  counted_drops drops;
  for (std::uint64_t i = 0; i < 65535; ++i) drops.note(i / 1000);
  EXPECT_EQ(drops.before(65), 65000u);
  EXPECT_EQ(drops.before(66), 65535u);
}

}  // namespace
