// SPDX-License-Identifier: Apache-2.0
// Does the harness see differences between regions that are known, and refuse what are no regions
// or sums?
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "bench/contenders/pool.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/suite/report.hpp"
#include "bench/suite/suite.hpp"
#include "bench/tests/fake_runtimes.hpp"

namespace tutti::bench {
namespace {

using region_fault = faulty_regions::fault;
using collective_fault = faulty_collectives::fault;

void quiet(const std::string&, double) {}

plan small_plan(std::vector<episode_kind> kinds, rank_t threads) {
  bench::plan plan;
  plan.benchmark = kinds[0].what == operation::collective ? "reduce" : "region";
  plan.kinds = std::move(kinds);
  plan.shapes = {{threads, threads}};
  plan.placements = {make_placement("core")};
  plan.scenarios = {parse_scenario("free")};
  plan.length.rounds = 2;
  return plan;
}

plan plan_of_regions(region_fault fault, rank_t threads) {
  bench::plan plan = small_plan(kinds_of_regions(), threads);
  plan.contenders.push_back(fake_regions("regions", [fault](const runtime_options& size) {
    return std::make_unique<faulty_regions>(size.threads, fault);
  }));
  return plan;
}

plan plan_of_collectives(collective_fault fault, rank_t threads) {
  bench::plan plan = small_plan(kinds_of_reductions(), threads);
  plan.contenders.push_back(fake_collectives("collectives", [fault](const runtime_options& size) {
    return std::make_unique<faulty_collectives>(size.threads, fault);
  }));
  return plan;
}

class Runtime : public testing::TestWithParam<rank_t> {};

TEST_P(Runtime, RightRegionsAreMeasured) {
  const bench::plan plan = plan_of_regions(region_fault::none, GetParam());
  suite s(plan);
  s.run(quiet);
  EXPECT_TRUE(s.failures().empty()) << s.failures()[0].reason;
  ASSERT_EQ(s.results().size(), 2u);
  for (const auto& result : s.results()) {
    EXPECT_EQ(result.rounds, 2u);
    EXPECT_GT(median_of(result.samples), 0);
  }
}

TEST_P(Runtime, RightReductionsAreMeasured) {
  const bench::plan plan = plan_of_collectives(collective_fault::none, GetParam());
  suite s(plan);
  s.run(quiet);
  EXPECT_TRUE(s.failures().empty()) << s.failures()[0].reason;
  EXPECT_EQ(s.results().size(), kinds_of_reductions().size());
}

TEST_P(Runtime, RoundsBesideANeighbourEndByTime) {
  bench::plan plan = plan_of_collectives(collective_fault::none, GetParam());
  plan.kinds = {{operation::collective, 0}, {operation::collective, 2}};
  plan.scenarios = {parse_scenario("neighbour_one")};
  plan.length.rounds = 1;
  suite s(plan);
  s.run(quiet);
  EXPECT_TRUE(s.failures().empty()) << s.failures()[0].reason;
  for (const auto& result : s.results()) EXPECT_EQ(result.samples.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Threads, Runtime, testing::Values(1, 2, 3, 5));

// ---- what is wrong is refused

not_measured only_failure(const plan& plan) {
  suite s(plan);
  s.run(quiet);
  if (s.failures().empty()) return {};
  for (const auto& result : s.results()) {
    if (result.kind != s.failures()[0].kind) continue;
    EXPECT_TRUE(result.samples.empty());
  }
  return s.failures()[0];
}

TEST(WrongRuntime, ARegionOnOneRankOnly) {
  const bench::plan plan = plan_of_regions(region_fault::only_rank_0, 3);
  EXPECT_NE(only_failure(plan).reason.find("rank 1"), std::string::npos);
}

TEST(WrongRuntime, ARegionThatEndsBeforeItsRanks) {
#ifdef TUTTI_TEST_TSAN
  GTEST_SKIP() << "plain data of a region that has not ended is a data race";
#endif
  const bench::plan plan = plan_of_regions(region_fault::does_not_join, 2);
  EXPECT_NE(only_failure(plan).reason.find("was not through it"), std::string::npos);
}

TEST(WrongRuntime, ARegionThatDropsAValue) {
  const not_measured failure = only_failure(plan_of_regions(region_fault::drops_a_value, 3));
  EXPECT_EQ(failure.kind, (episode_kind{operation::region, 2}));
  EXPECT_NE(failure.reason.find("add up to"), std::string::npos) << failure.reason;
}

TEST(WrongRuntime, AReductionThatIsWrongOnOneRank) {
  const not_measured failure =
      only_failure(plan_of_collectives(collective_fault::counts_one_twice, 3));
  EXPECT_NE(failure.reason.find("rank 1"), std::string::npos) << failure.reason;
}

TEST(WrongRuntime, AReductionThatLosesTheMiddle) {
  bench::plan plan = plan_of_collectives(collective_fault::loses_the_middle, 2);
  plan.kinds = {{operation::collective, 8}};
  EXPECT_NE(only_failure(plan).reason.find("sum number 4 of 8"), std::string::npos);
}

TEST(WrongRuntime, ABarrierThatIsNone) {
#ifdef TUTTI_TEST_TSAN
  GTEST_SKIP() << "plain data without a barrier is a data race";
#endif
  bench::plan plan = small_plan({{operation::collective, 0}}, 2);
  plan.contenders.push_back(fake_collectives("none", [](const runtime_options& size) {
    return std::make_unique<partial_sums<absent_barrier>>(size.threads);
  }));
  EXPECT_NE(only_failure(plan).reason.find("was not in it"), std::string::npos);
}

// ---- what is measured is what happens

TEST(RuntimeCost, AKnownDelayOfEachRegionIsSeen) {
  bench::plan plan = small_plan({{operation::region, 0}}, 1);
  for (const double delay : {0.0, 2000.0}) {
    plan.contenders.push_back(
        fake_regions(std::to_string(delay), [delay](const runtime_options& size) {
          return std::make_unique<faulty_regions>(size.threads, region_fault::none, delay);
        }));
  }
  suite s(plan);
  s.run(quiet);
  ASSERT_EQ(s.results().size(), 2u);
  const double difference =
      summarize(s.results()[1].samples).p25 - summarize(s.results()[0].samples).p25;
  EXPECT_NEAR(difference, 2000, 300);
}

// How the workers of a pool wait for the next region: they spin, or they look once in a while.
template <bool Naps>
class polled_signals {
 public:
  explicit polled_signals(rank_t threads) : workers_(threads - 1) {}
  void open() {
    running_.store(workers_, relaxed);
    generation_.fetch_add(1, release);  // publishes the job; pairs with await_open()
  }
  void await_open() {
    thread_local std::uint64_t seen = 0;
    while (generation_.load(acquire) == seen) {  // pairs with open()
      if (Naps) std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    ++seen;
  }
  void done() { running_.fetch_sub(1, release); }  // pairs with close()
  void close() {
    while (running_.load(acquire) != 0) {  // pairs with done()
    }
  }

 private:
  const rank_t workers_;
  alignas(cache_line) std::atomic<std::uint64_t> generation_{0};
  alignas(cache_line) std::atomic<rank_t> running_{0};
};

template <bool Naps>
contender polling_pool(const char* name) {
  return fake_regions(name, [](const runtime_options& size) {
    return std::make_unique<pool_runtime<polled_signals<Naps>>>(size.threads);
  });
}

double median_in(const suite& s, const std::string& name, metric what) {
  for (const auto& m : s.results()) {
    if (m.who->name == name && m.what == what) return median_of(m.samples);
  }
  ADD_FAILURE() << name << " was not measured";
  return 0;
}

TEST(Gaps, SpinningThroughThemAndSleepingInThemBothShow) {
  if (make_placement("core").cpus.size() < 2) GTEST_SKIP() << "needs two cores";
  bench::plan plan = small_plan({{operation::region, 0}}, 2);
  plan.scenarios = {parse_scenario("gap_200us")};
  plan.contenders = {polling_pool<false>("spins"), polling_pool<true>("naps")};
  suite s(plan);
  s.run(quiet);
  EXPECT_TRUE(s.failures().empty()) << s.failures()[0].reason;
  ASSERT_EQ(s.results().size(), 4u);
  EXPECT_LT(median_in(s, "spins", metric::latency), 20e3);
  // At least the gap, and more where something else makes the caller late.
  EXPECT_GT(median_in(s, "spins", metric::cpu_time), 160e3);
  EXPECT_GT(median_in(s, "naps", metric::latency), 50e3);
  EXPECT_LT(median_in(s, "naps", metric::cpu_time), 100e3);
}

// Rounds beside a neighbour end by time, and each of their episodes counts.
TEST(Gaps, BesideNeighboursAreTimed) {
  bench::plan plan = small_plan({{operation::region, 0}}, 2);
  plan.scenarios = {parse_scenario("gap_200us+neighbour_one")};
  plan.contenders = {polling_pool<true>("naps")};
  suite s(plan);
  s.run(quiet);
  EXPECT_TRUE(s.failures().empty()) << s.failures()[0].reason;
  EXPECT_FALSE(s.results().empty());
  for (const auto& m : s.results()) {
    EXPECT_FALSE(m.samples.empty());
    EXPECT_GT(median_of(m.samples), 0);
  }
}

TEST(Gaps, InsideARegionRankZeroComesLate) {
  bench::plan plan = plan_of_collectives(collective_fault::none, 2);
  plan.kinds = {{operation::collective, 0}, {operation::collective, 2}};
  plan.scenarios = {parse_scenario("gap_500us")};
  suite s(plan);
  s.run(quiet);
  EXPECT_TRUE(s.failures().empty()) << s.failures()[0].reason;
  ASSERT_EQ(s.results().size(), 4u);
  for (const auto& m : s.results()) {
    // std::barrier sleeps: neither figure contains the gap.
    EXPECT_LT(summarize(m.samples).min, 400e3);
    EXPECT_GT(median_of(m.samples), 0);
  }
}

TEST(RuntimeLines, AreJsonWithTheirKeys) {
  const bench::plan plan = plan_of_collectives(collective_fault::none, 2);
  suite s(plan);
  s.run(quiet);
  std::istringstream lines(json_lines(plan, s, describe_machine(), {{"absent", "not here"}}));
  std::size_t results = 0, skipped = 0;
  for (std::string text; std::getline(lines, text);) {
    const auto line = cli::json::parse(text);
    skipped += line.at("type") == "skipped";
    if (line.at("type") != "result") continue;
    ++results;
    for (const char* key :
         {"benchmark", "kind",    "provider",     "name",         "wait",
          "threads",   "ranks",   "cores",        "pinned",       "scenario",
          "session",   "metric",  "unit",         "min",          "median",
          "p99",       "samples", "floor_median", "ratio_median", "over_barrier_median"}) {
      EXPECT_TRUE(line.contains(key)) << key;
    }
    EXPECT_EQ(line.at("benchmark"), "reduce");
    EXPECT_EQ(line.at("over_barrier_median").is_null(), line.at("kind") == "barrier");
  }
  EXPECT_EQ(results, kinds_of_reductions().size());
  EXPECT_EQ(skipped, 1u);
}

TEST(PairedRatio, ComparesTheSameSweeps) {
  series_record one, other;
  one.add({10}, 1.0, 1);
  one.add({100}, 1.0, 2);
  one.add({7}, 1.0, 4);
  other.add({5}, 1.0, 1);
  other.add({50}, 1.0, 2);
  other.add({1}, 1.0, 3);
  EXPECT_DOUBLE_EQ(paired_ratio(one, other), 2);
  EXPECT_DOUBLE_EQ(paired_ratio(one, {}), 0);
}

}  // namespace
}  // namespace tutti::bench
