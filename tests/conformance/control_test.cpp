// SPDX-License-Identifier: Apache-2.0
// Tests the suite itself: barriers that are broken in known ways must not pass it.

#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/data_check.hpp"
#include "tests/conformance/providers.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr data_check plan{.participants = 4, .time = 300ms, .random_delays = true, .traced = true};

std::string result_of(spoilt_barrier& barrier, data_check with = plan) {
  return hold(with, [&](rank_t rank) { barrier.arrive_and_wait(rank); });
}

class Control : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TUTTI_TEST_TSAN
    GTEST_SKIP()
        << "ThreadSanitizer ends the process at the first race: see conformance.no_release";
#endif
  }
};

TEST_F(Control, TheUnspoiltBarrierPasses) {
  spoilt_barrier barrier{.expected = 4};
  EXPECT_EQ(result_of(barrier), "");
}

TEST_F(Control, LettingOneThroughEarlyFailsByTheTrace) {
  // The others still count with this participant, so the barrier goes on as if nothing had
  // happened.
  spoilt_barrier barrier{.expected = 4, .hurries = 2, .patience = 50ms};
  EXPECT_NE(result_of(barrier), "");
}

TEST_F(Control, LettingOneThroughEarlyFailsByTheDataAlone) {
  spoilt_barrier barrier{.expected = 4, .hurries = 2, .patience = 50ms};
  data_check untraced = plan;
  untraced.traced = false;
  const std::string complaint = result_of(barrier, untraced);
  EXPECT_NE(complaint.find("read what participant"), std::string::npos) << complaint;
}

TEST_F(Control, CountingOneTooFewFails) {
  spoilt_barrier barrier{.expected = 3, .patience = 50ms};
  EXPECT_NE(result_of(barrier), "");
}

TEST(ControlDeathTest, CountingOneTooManyIsReportedAsStuck) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        spoilt_barrier barrier{.expected = 5};
        data_check impatient = plan;
        impatient.patience = 1s;
        result_of(barrier, impatient);
      },
      "stuck for 1 s: participants and the episode they are in: 0:0 1:0 2:0 3:0");
}

}  // namespace
}  // namespace tutti::test
