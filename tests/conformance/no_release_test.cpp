// SPDX-License-Identifier: Apache-2.0
// Control under ThreadSanitizer: a barrier that lets everybody go at the right time but publishes nothing (all its
// orders relaxed) must be reported as a data race by the suite's own meeting. The test passes when this fails.

#include <gtest/gtest.h>

#include "meeting.hpp"
#include "providers.hpp"

namespace {

TEST(NoRelease, IsARace) {
  tutti::test::spoilt_barrier barrier{
      .expected = 2, .arrive = tutti::relaxed, .leave = tutti::relaxed};
  EXPECT_EQ(tutti::test::hold({.participants = 2},
                              [&](tutti::rank_t rank) { barrier.arrive_and_wait(rank); }),
            "");
}

}  // namespace
