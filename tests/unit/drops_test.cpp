// SPDX-License-Identifier: Apache-2.0
// Tests the count of the participants that have dropped out of a barrier, one call after the other;
// tests/model/barrier.cpp checks it with threads.
#include "tutti/barrier/drops.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tutti/platform/native.hpp"

namespace tutti {
namespace {

TEST(Drops, CountFromThePhaseAfterTheLastArrival) {
  drops<native> counted;
  EXPECT_EQ(counted.before(0, counted.look()), 0u);
  counted.note(3);
  EXPECT_EQ(counted.before(3, counted.look()), 0u);
  counted.note(3);
  EXPECT_EQ(counted.before(4, counted.look()), 2u);
  counted.note(5);
  EXPECT_EQ(counted.before(5, counted.look()), 2u);
  EXPECT_EQ(counted.before(6, counted.look()), 3u);
}

// The first arrival of a phase may be held up after it has arrived, until the phase has ended and
// others have dropped out in the next ones.
TEST(Drops, DoNotCountForAPhaseThatHasEnded) {
  drops<native> counted;
  counted.note(1);
  const auto seen = counted.look();
  counted.note(2);
  EXPECT_EQ(counted.before(1, seen), 0u);
  EXPECT_EQ(counted.before(2, counted.look()), 1u);
  EXPECT_EQ(counted.before(3, counted.look()), 2u);
}

// Half of the number of a phase is kept.
TEST(Drops, CountAfterTheHalfHasWrappedAround) {
  drops<native> counted;
  counted.note(7);
  EXPECT_EQ(counted.before(8, counted.look()), 1u);
  for (const std::uint64_t phase : {(std::uint64_t{1} << 31) + 9, (std::uint64_t{1} << 32) + 7})
    EXPECT_EQ(counted.before(phase, counted.look()), 1u);
  counted.note((std::uint64_t{1} << 32) + 8);
  EXPECT_EQ(counted.before((std::uint64_t{1} << 32) + 8, counted.look()), 1u);
  EXPECT_EQ(counted.before((std::uint64_t{1} << 32) + 9, counted.look()), 2u);
}

}  // namespace
}  // namespace tutti
