// SPDX-License-Identifier: Apache-2.0
// A control under ThreadSanitizer: a barrier that releases everybody at the right time but
// publishes nothing (all its orders are relaxed). The suite must report it as a data race; the test
// passes when the suite fails.

#include <gtest/gtest.h>

#include "tests/conformance/data_check.hpp"
#include "tests/conformance/providers.hpp"

namespace {

TEST(NoRelease, IsARace) {
  tutti::test::spoilt_barrier barrier{
      .expected = 2, .arrive = tutti::relaxed, .leave = tutti::relaxed};
  EXPECT_EQ(tutti::test::hold({.participants = 2},
                              [&](tutti::rank_t rank) { barrier.arrive_and_wait(rank); }),
            "");
}

}  // namespace
