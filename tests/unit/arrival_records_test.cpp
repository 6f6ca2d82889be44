// SPDX-License-Identifier: Apache-2.0
// Tests which ranks a phase lacks by the records of their arrivals, also beyond 2^31 phases and
// where the phases of striped counters wrap around.
#include "tutti/barrier/arrival_records.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tutti/platform/native.hpp"

namespace {

using tutti::rank_t;
using record = tutti::arrival_record<tutti::native, int>;
using records = tutti::arrival_records<tutti::native, int>;

std::vector<rank_t> missing(const records& all, std::uint64_t phase) {
  std::vector<rank_t> found;
  all.each_missing(phase, [&](rank_t rank) { found.push_back(rank); });
  return found;
}

TEST(ArrivalRecords, TellWhoHasArrivedInAPhaseOrLater) {
  record one;
  EXPECT_FALSE(one.has_arrived(0));
  one.note_arrival(7);
  EXPECT_TRUE(one.has_arrived(6));
  EXPECT_TRUE(one.has_arrived(7));
  EXPECT_FALSE(one.has_arrived(8));
  EXPECT_FALSE(one.is_last_arrival_in(6));
  EXPECT_TRUE(one.is_last_arrival_in(7));
  EXPECT_FALSE(one.is_last_arrival_in(8));
  one.note_drop();
  EXPECT_TRUE(one.has_arrived(8));
}

TEST(ArrivalRecords, OfStripesWrapAround) {
  record one;
  one.note_arrival(UINT32_MAX);
  EXPECT_TRUE(one.has_arrived(UINT32_MAX));
  EXPECT_TRUE(one.is_last_arrival_in(UINT32_MAX));
  EXPECT_FALSE(one.has_arrived(0));
  one.note_arrival(0);
  EXPECT_TRUE(one.has_arrived(UINT32_MAX));
  EXPECT_FALSE(one.has_arrived(1));
}

TEST(ArrivalRecords, OfARankThatNeverArrivedLackItInEveryPhase) {
  records all(3);
  for (std::uint64_t phase = 1; phase < std::uint64_t{1} << 62; phase *= 2) {
    all[1].note_arrival(phase);
    EXPECT_EQ(missing(all, phase), (std::vector<rank_t>{0, 2})) << phase;
    EXPECT_EQ(missing(all, phase + 1), (std::vector<rank_t>{0, 1, 2})) << phase;
  }
}

TEST(ArrivalRecords, LackNobodyWhereNobodyHasARank) {
  records all(3);
  EXPECT_EQ(missing(all, 0), std::vector<rank_t>{});
  all.make_all();
  EXPECT_EQ(missing(all, 0), std::vector<rank_t>{});
}

}  // namespace
