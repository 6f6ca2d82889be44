// SPDX-License-Identifier: Apache-2.0
// Order statistics, names of scenarios, and lists of CPUs.
#include "bench/harness/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <stdexcept>

#include "bench/harness/machine.hpp"
#include "bench/harness/placement.hpp"
#include "bench/suite/plan.hpp"

namespace tutti::bench {
namespace {

TEST(Statistics, NoSamples) { EXPECT_EQ(summarize({}).samples, 0u); }

TEST(Statistics, OneSampleIsEverything) {
  const summary s = summarize({7});
  for (const double value : {s.min, s.p1, s.p25, s.median, s.p75, s.p99, s.max, s.mean}) {
    EXPECT_EQ(value, 7);
  }
}

TEST(Statistics, TheMeanOfEqualSamplesIsTheirs) {
  for (std::size_t n = 1; n < 100; ++n)
    for (const double each : {0.1, 122.3, 1e9 / 3}) {
      EXPECT_EQ(summarize(std::vector<double>(n, each)).mean, each) << n;
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

std::vector<double> from_one_to(std::size_t n) {
  std::vector<double> samples(n);
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

TEST(Statistics, TheRangeOfTheMedianIsThatOfTheBinomialDistribution) {
  const median_range hundred = range_of_median(from_one_to(100));
  EXPECT_EQ(hundred.low, 40);
  EXPECT_EQ(hundred.high, 61);
  EXPECT_NEAR(hundred.probability, 0.9648, 1e-4);
  const median_range nine = range_of_median(from_one_to(9));
  EXPECT_EQ(nine.low, 2);
  EXPECT_EQ(nine.high, 8);
  EXPECT_NEAR(nine.probability, 0.9609, 1e-4);
}

TEST(Statistics, FewSamplesGiveTheirRangeALowerProbability) {
  const median_range three = range_of_median({3, 1, 2});
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_NEAR(three.probability, 0.75, 1e-9);
  EXPECT_NEAR(range_of_median({7}).probability, 0, 1e-9);
}

// Others on CPUs that this process may not use do not disturb it.
TEST(ProcessorTime, IsThatOfTheAllowedCpus) {
  const std::string stat =
      "cpu  1000 0 0 3000 0 0 0 0 0 0\n"
      "cpu0 100 0 0 900 0 0 0 0 0 0\n"
      "cpu1 800 0 0 200 0 0 0 0 0 0\n"
      "cpu2 50 10 20 880 10 10 10 10 0 0\n"
      "cpu3 50 0 0 950 0 0 0 0 0 0\n"
      "intr 1 2 3\n";
  const processor_time two = processor_time_of(stat, {0, 2});
  EXPECT_NEAR(two.busy / two.total, 0.1, 1e-9);
  EXPECT_NEAR(two.stolen / two.total, 0.005, 1e-9);
  // A container may see its CPUs under other numbers.
  const processor_time all = processor_time_of(stat, {0, 7});
  EXPECT_NEAR(all.busy / all.total, 0.25, 1e-9);
}

TEST(Scenario, NamesCarryTheirTimes) {
  EXPECT_DOUBLE_EQ(parse_scenario("skew_10us").skew_ns, 10e3);
  EXPECT_DOUBLE_EQ(parse_scenario("imbalance_1ms").late.ns, 1e6);
  EXPECT_DOUBLE_EQ(parse_scenario("imbalance_500ns").late.ns, 500);
  EXPECT_EQ(parse_scenario("neighbour_all").busy, neighbour_kind::all);
  EXPECT_EQ(parse_scenario("free").busy, neighbour_kind::none);
}

TEST(Scenario, PartsAreJoined) {
  const scenario s =
      parse_scenario("imbalance_60us_uniform_rotating+background_heavy_x2+quota_1.5");
  EXPECT_DOUBLE_EQ(s.late.ns, 60e3);
  EXPECT_EQ(s.late.kind, course_kind::uniform);
  EXPECT_TRUE(s.rotating);
  EXPECT_EQ(s.busy, neighbour_kind::heavy);
  EXPECT_EQ(s.each, 2u);
  EXPECT_DOUBLE_EQ(s.quota_cpus, 1.5);
  EXPECT_TRUE(s.disturbed());
  EXPECT_TRUE(s.delayed());
}

TEST(Scenario, WorkGapsAndPhases) {
  const scenario work = parse_scenario("work_1us_100us");
  EXPECT_DOUBLE_EQ(work.least_work_ns, 1e3);
  EXPECT_DOUBLE_EQ(work.most_work_ns, 100e3);
  const scenario gap = parse_scenario("gap_1ms_alternating+background_light");
  EXPECT_DOUBLE_EQ(gap.gap.ns, 1e6);
  EXPECT_EQ(gap.gap.kind, course_kind::alternating);
  EXPECT_EQ(gap.each, 3u);
  EXPECT_EQ(parse_scenario("recover_background_heavy").phases, phase_kind::neighbours);
  EXPECT_EQ(parse_scenario("recover_imbalance_1ms").phases, phase_kind::long_waits);
  EXPECT_EQ(parse_scenario("recover_to_imbalance_1ms").phases, phase_kind::short_waits);
}

TEST(Scenario, NeighboursAreWhereItSays) {
  const std::vector<int> cores{4, 7};
  EXPECT_TRUE(neighbours_of(parse_scenario("free"), cores).cpus.empty());
  EXPECT_EQ(neighbours_of(parse_scenario("neighbour_one"), cores).cpus, std::vector{4});
  const neighbour_plan light = neighbours_of(parse_scenario("background_light_x5"), cores);
  EXPECT_EQ(light.cpus, cores);
  EXPECT_EQ(light.each, 5u);
  EXPECT_TRUE(light.light);
}

TEST(Course, LengthsOfSuccessiveWaits) {
  std::mt19937_64 random(1);
  const course alternating{100, course_kind::alternating};
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_DOUBLE_EQ(at(alternating, i, random), i % 10 == 9 ? 100 : 10);
  }
  const course uniform{90, course_kind::uniform};
  double sum = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double ns = at(uniform, i, random);
    EXPECT_GE(ns, 60);
    EXPECT_LE(ns, 120);
    sum += ns;
  }
  EXPECT_NEAR(sum / 1000, uniform.mean(), 3);
}

TEST(Scenario, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"imbalance_1ms_rotating_uniform",
                           "work_1us",
                           "work_9us_1us",
                           "work_1us_1",
                           "gap_",
                           "gap_-1us",
                           "gap_60us_rotating",
                           "gap_60",
                           "background_medium",
                           "background_light_x0",
                           "background_light_x99",
                           "neighbour_one_xtwo",
                           "quota_",
                           "quota_0",
                           "quota_-1",
                           "quota_x",
                           "free+gap_1us",
                           "gap_1us+",
                           "+gap_1us",
                           "gap_1us+gap_2us",
                           "neighbour_one+background_light",
                           "quota_1.5+gap_60us",
                           "recover_",
                           "recover_background_light",
                           "recover_imbalance_1",
                           "recover_neighbour_one+quota_1.5"}) {
    EXPECT_THROW(parse_scenario(text), std::invalid_argument) << text;
  }
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
