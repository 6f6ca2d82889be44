// SPDX-License-Identifier: Apache-2.0
// Order statistics, names of scenarios, and lists of CPUs.
#include "harness/statistics.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "barrier/plan.hpp"
#include "harness/placement.hpp"

namespace tutti::bench {
namespace {

TEST(Statistics, NoSamples) { EXPECT_EQ(summarize({}).samples, 0u); }

TEST(Statistics, OneSampleIsEverything) {
  const summary s = summarize({7});
  for (const double value : {s.min, s.p1, s.p25, s.median, s.p75, s.p99, s.max, s.mean}) {
    EXPECT_EQ(value, 7);
  }
}

TEST(Statistics, QuantilesOfAnUnsortedLine) {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i) samples.push_back(i);
  const summary s = summarize(samples);
  EXPECT_DOUBLE_EQ(s.min, 0);
  EXPECT_DOUBLE_EQ(s.p1, 1);
  EXPECT_DOUBLE_EQ(s.p25, 25);
  EXPECT_DOUBLE_EQ(s.median, 50);
  EXPECT_DOUBLE_EQ(s.p99, 99);
  EXPECT_DOUBLE_EQ(s.mean, 50);
}

TEST(Statistics, MedianOfTwoIsBetweenThem) { EXPECT_DOUBLE_EQ(median_of({1, 2}), 1.5); }

TEST(Scenario, NamesCarryTheirTimes) {
  EXPECT_DOUBLE_EQ(parse_scenario("skew_10us").skew_ns, 10e3);
  EXPECT_DOUBLE_EQ(parse_scenario("imbalance_1ms").late_ns, 1e6);
  EXPECT_DOUBLE_EQ(parse_scenario("imbalance_500ns").late_ns, 500);
  EXPECT_EQ(parse_scenario("neighbour_all").busy, neighbour_kind::all);
  EXPECT_EQ(parse_scenario("free").busy, neighbour_kind::none);
}

TEST(Scenario, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "fre", "skew_", "skew_10", "skew_us", "skew_-1us", "skew_nanus",
                           "imbalance_2000ms", "imbalance_1s", "neighbour_two", "skew_1us "}) {
    EXPECT_THROW(parse_scenario(text), std::invalid_argument) << text;
  }
}

TEST(Placement, ListsAndRangesOfCpus) {
  const std::string first = std::to_string(allowed_cpus().front());
  EXPECT_EQ(make_placement(first).cpus, std::vector{allowed_cpus().front()});
  EXPECT_EQ(make_placement(first + "-" + first).cpus, std::vector{allowed_cpus().front()});
  EXPECT_FALSE(make_placement("none").pinned());
  EXPECT_EQ(make_placement("compact").cpus.size(), allowed_cpus().size());
}

TEST(Placement, RefusesWhatIsNoCpu) {
  for (const char* text : {"", "cores", "1,", ",1", "0-", "-1", "3-1", "99999", "0,x"}) {
    EXPECT_THROW(make_placement(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace tutti::bench
