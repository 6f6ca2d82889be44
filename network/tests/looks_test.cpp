// SPDX-License-Identifier: Apache-2.0
// When a host looks at its word before it blocks, by what its last waits have taught it.
#include "network/looks.hpp"

#include <gtest/gtest.h>

namespace tutti::network {
namespace {

using namespace std::chrono_literals;

// Waits that block before one looks again.
std::uint32_t rest_of(looks& l) {
  std::uint32_t waits = 0;
  while (!l.are_next()) ++waits;
  return waits;
}

TEST(Looks, AreTakenAtFirst) {
  looks l;
  EXPECT_TRUE(l.are_next());
  l.were_enough();
  EXPECT_TRUE(l.are_next());
}

TEST(Looks, InVainRestForWhatTheyHaveCost) {
  looks l;
  l.were_in_vain(50us);
  EXPECT_EQ(rest_of(l), 1u);
  looks slice;
  slice.were_in_vain(3ms);
  EXPECT_EQ(rest_of(slice), 60u);
}

TEST(Looks, InVainAgainRestForTwiceAsManyWaitsUpToTheLongest) {
  looks l;
  for (const std::uint32_t waits : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 256u}) {
    l.were_in_vain(50us);
    EXPECT_EQ(rest_of(l), waits);
  }
}

TEST(Looks, ThatAreEnoughOftenEnoughForgetTheRest) {
  looks l;
  l.were_in_vain(400us);
  EXPECT_EQ(rest_of(l), 8u);
  for (int i = 0; i < 7; ++i) l.were_enough();
  l.were_in_vain(50us);
  EXPECT_EQ(rest_of(l), 16u);
  for (int i = 0; i < 16; ++i) l.were_enough();
  l.were_in_vain(50us);
  EXPECT_EQ(rest_of(l), 1u);
}

TEST(Looks, ThatLoseHoursRestNoLonger) {
  looks l;
  l.were_in_vain(2h);
  EXPECT_EQ(rest_of(l), looks::longest_rest);
}

}  // namespace
}  // namespace tutti::network
