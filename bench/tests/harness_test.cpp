// SPDX-License-Identifier: Apache-2.0
// Does the harness see differences that are known, and refuse what is no barrier?
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/events/suite.hpp"
#include "bench/harness/notifier.hpp"
#include "bench/harness/phases.hpp"
#include "bench/harness/record.hpp"
#include "bench/harness/statistics.hpp"
#include "bench/harness/watchdog.hpp"
#include "bench/suite/report.hpp"
#include "bench/suite/suite.hpp"
#include "bench/tests/fake_barriers.hpp"
#include "bench/trials/suite.hpp"
#include "tests/support/dummy_provider.hpp"
#include "tests/support/json_lines.hpp"

namespace tutti::bench {
namespace {

// The least: others' work on the machine only ever adds.
double cost_of(const measurement& m) { return summarize(m.samples).min; }

class Harness : public testing::Test {
 protected:
  void SetUp() override {
    if (make_placement("core").cpus.size() < 2) GTEST_SKIP() << "needs two cores";
    plan_.shapes = {{2, 2}};
    plan_.placements = {make_placement("core")};
    plan_.scenarios = {parse_scenario("free")};
    plan_.length.rounds = 8;
  }

  void add_delayed(double delay_ns) {
    plan_.contenders.push_back(fake(
        "delay", [delay_ns](rank_t n) { return std::make_unique<slowed_barrier>(n, delay_ns); }));
  }

  // Measures the barrier without a delay.
  const suite& run_in(const std::string& scenario) {
    add_delayed(0);
    plan_.scenarios = {parse_scenario(scenario)};
    suite_ = std::make_unique<suite>(plan_);
    suite_->run(quiet);
    return *suite_;
  }

  // On a busy machine some tries tell nothing. Returns whether one of them was as expected.
  template <class AsExpected>
  static bool is_soon(AsExpected as_expected) {
    for (int tries = 0; tries < 5; ++tries) {
      if (as_expected()) return true;
    }
    return false;
  }

  static void quiet(const std::string&, double) {}

  plan plan_;
  std::unique_ptr<suite> suite_;
};

TEST_F(Harness, SeesAKnownDelayInALoop) {
  for (const double delay : {0.0, 2000.0, 20000.0}) add_delayed(delay);
  plan_.metrics = {metric::loop};
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.results().size(), 3u);
  const double none = cost_of(s.results()[0]);
  EXPECT_NEAR(cost_of(s.results()[1]) - none, 2000, 600);
  EXPECT_NEAR(cost_of(s.results()[2]) - none, 20000, 3000);
}

TEST_F(Harness, SeesAKnownDelayFromLastInToLastOut) {
  for (const double delay : {0.0, 2000.0}) add_delayed(delay);
  plan_.metrics = {metric::last_in_last_out};
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.results().size(), 2u);
  EXPECT_NEAR(cost_of(s.results()[1]) - cost_of(s.results()[0]), 2000, 600);
  // Skew is not part of the latency: it is far below the largest skew, and not below what physics
  // allows.
  const double latency = median_of(s.results()[0].samples);
  EXPECT_GT(latency + s.clock_bound_ns(), 0.5 * median_of(s.results()[0].floors));
}

TEST(Record, TimesHaveTheUnitsThatPeopleRead) {
  EXPECT_EQ(format_ns(12.34), "12.3 ns");
  EXPECT_EQ(format_ns(4560), "4.56 µs");
  EXPECT_EQ(format_ns(-78.9e6), "-78.90 ms");
  // Columns count a sign of two bytes as one.
  EXPECT_EQ(fmt::format("{:>9}|", format_ns(4560)), "  4.56 µs|");
}

TEST_F(Harness, LatenessOfARankIsNotLatency) {
  EXPECT_TRUE(is_soon([&] {
    plan_.contenders.clear();
    const suite& s = run_in("imbalance_100us");
    if (s.results().size() != 2) return false;
    EXPECT_EQ(s.results()[1].what, metric::cpu_time);
    // The waiter spins: it burns what the late rank is late by.
    return cost_of(s.results()[0]) < 20e3 && std::abs(cost_of(s.results()[1]) - 100e3) < 20e3;
  }));
}

const measurement& of_metric(const suite& s, metric what) {
  for (const auto& m : s.results()) {
    if (m.what == what) return m;
  }
  throw std::runtime_error("not measured");
}

TEST_F(Harness, TheLateRankMayRotate) {
  add_delayed(0);
  plan_.scenarios = {parse_scenario("imbalance_100us_rotating")};
  // What makes a rank late is not counted as waiting, though every rank is late now and then.
  // It would be 200 us.
  EXPECT_TRUE(is_soon([&] {
    suite s(plan_);
    s.run(quiet);
    const double waits = cost_of(of_metric(s, metric::cpu_time));
    EXPECT_GT(waits, 80e3);
    return waits < 180e3 && cost_of(of_metric(s, metric::last_in_last_out)) < 20e3;
  }));
}

// There the last return can be late because another thread works on the same core.
TEST_F(Harness, MeasuresWholeEpisodesOfMoreThreadsThanCores) {
  const scenario late = parse_scenario("imbalance_100us");
  const auto has_episode = [&](bool crowded) {
    const auto metrics = metrics_of(plan_, {operation::barrier, 0}, late, crowded);
    return std::find(metrics.begin(), metrics.end(), metric::episode) != metrics.end();
  };
  EXPECT_TRUE(has_episode(true));
  EXPECT_FALSE(has_episode(false));
  plan_.metrics = {metric::episode};
  EXPECT_TRUE(has_episode(false)) << "asked for";
}

TEST_F(Harness, RandomWorkIsNoWait) {
  const suite& s = run_in("work_50us_150us");
  EXPECT_LT(cost_of(of_metric(s, metric::last_in_last_out)), 20e3);
  // The work, 200 us of both ranks in the mean, is no wait; an episode lasts as long as the longer
  // work.
  const double waits = cost_of(of_metric(s, metric::cpu_time));
  const double episode = cost_of(of_metric(s, metric::episode));
  EXPECT_GT(waits, 10e3);
  EXPECT_LT(waits, 0.8 * episode);
  EXPECT_GT(episode, 95e3);
}

TEST_F(Harness, SeesHowLongABarrierRemembersLongWaits) {
  constexpr double memory = 80e6;
  plan_.length.rounds = 3;
  plan_.scenarios = {parse_scenario("recover_imbalance_1ms")};
  plan_.contenders.push_back(fake(
      "sulks", [=](rank_t n) { return std::make_unique<sulking_barrier>(n, 500e3, 5e3, memory); }));
  add_delayed(0);
  // The most against the least: on a busy machine the calm returns later, or a round's long waits
  // are cut short.
  EXPECT_TRUE(is_soon([&] {
    suite s(plan_);
    s.run(quiet);
    EXPECT_EQ(s.results().size(), 2u);
    return summarize(s.results().at(0).samples).max > 0.8 * memory &&
           cost_of(s.results().at(1)) < 0.2 * memory;
  }));
}

TEST_F(Harness, TheFloorOfACrowdIsNotAboveABarrierThatYields) {
  plan_.shapes = {{4, 4}};
  plan_.metrics = {metric::loop};
  plan_.length.rounds = 10;
  plan_.contenders = choose_tutti({"ticket"}, {"yield"});
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.results().size(), 1u);
  EXPECT_GT(median_of(s.results()[0].ratios), 0.9);
}

TEST(Contenders, IncludeTheBarrierOfAProvider) {
  tutti::test::dummy_provider dummy;
  const std::vector<contender> barriers = choose_tutti({"dummy", "ticket"}, {"park"});
  ASSERT_EQ(barriers.size(), 2u);
  EXPECT_EQ(barriers[0].name + ", " + barriers[0].wait, "dummy, adaptive");
  EXPECT_EQ(barriers[1].name + ", " + barriers[1].wait, "ticket, park");
  barriers[0].barrier(1)->arrive_and_wait(0);
  EXPECT_EQ(dummy.arrivals(), 1u);
  const std::vector<contender> teams = choose_teams({"dummy"}, {"park"});
  ASSERT_EQ(teams.size(), 1u);
  EXPECT_EQ(teams[0].wait, "adaptive");
  runtime_options size;
  size.threads = size.ranks = 2;
  teams[0].collectives(size)->enter([](runtime_rank& rank) { rank.barriers(3); });
  EXPECT_EQ(dummy.arrivals(), 6u);
}

TEST(Seeds, DifferInTheirHighHalvesToo) {
  EXPECT_EQ(seed_words(7, 3), (std::vector<std::uint32_t>{7, 3}));
  EXPECT_NE(seed_words(1, 0), seed_words((std::uint64_t{1} << 32) + 1, 0));
}

TEST(Phases, TheFirstCalmWindowCounts) {
  std::vector<phase_sample> samples;
  for (std::uint64_t i = 0; i < 100; ++i) samples.push_back({1000 * i, i < 50 ? 30.0 : 10.5});
  // A window whose median is calm: more than half of it lies behind the change of cost.
  const auto found = time_to_calm(samples, 20000, 10);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(*found, to_ns(std::uint64_t{1000 * (50 - rolling_window / 2) - 20000}), 1);
  EXPECT_FALSE(time_to_calm(samples, 20000, 9).has_value());
  EXPECT_DOUBLE_EQ(*time_to_calm(samples, 60000, 10), 0);
}

TEST_F(Harness, RefusesWhatIsNoBarrier) {
#ifdef TUTTI_TEST_TSAN
  GTEST_SKIP() << "plain data without a barrier is a data race";
#endif
  plan_.contenders.push_back(fake("none", [](rank_t) { return std::make_unique<no_barrier>(); }));
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.failures().size(), 1u);
  EXPECT_NE(s.failures()[0].reason.find("not a barrier"), std::string::npos);
  EXPECT_TRUE(s.results()[0].samples.empty());
}

TEST_F(Harness, AFailureInOnePlacementDoesNotHideThatInAnother) {
#ifdef TUTTI_TEST_TSAN
  GTEST_SKIP() << "plain data without a barrier is a data race";
#endif
  plan_.contenders.push_back(fake("none", [](rank_t) { return std::make_unique<no_barrier>(); }));
  plan_.placements.push_back(make_placement("none"));
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.failures().size(), 2u);
  std::vector<std::string> pins;
  for (const auto& line : test::json_lines(json_lines(plan_, s, describe_machine(), {}))) {
    if (line.at("type") == "skipped") pins.push_back(line.at("pin").get<std::string>());
  }
  EXPECT_EQ(pins, (std::vector<std::string>{"core", "none"}));
}

TEST_F(Harness, RefusesRoundsThatBeginWithAThreadAsleep) {
  plan_.contenders.push_back(
      fake("drowsy", [](rank_t n) { return std::make_unique<drowsy_barrier>(n); }));
  plan_.metrics = {metric::loop};
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.failures().size(), 1u);
  EXPECT_NE(s.failures()[0].reason.find("began long after"), std::string::npos);
  EXPECT_EQ(s.results()[0].flagged, s.results()[0].rounds);
}

TEST_F(Harness, ABusyNeighbourIsBusyOnlyDuringTheRound) {
  add_delayed(0);
  plan_.length.rounds = 2;
  plan_.scenarios = {parse_scenario("neighbour_all")};
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.results().size(), 1u);
  EXPECT_FALSE(s.results()[0].samples.empty());
  // The floor beside the round was measured while the neighbours slept.
  for (const double floor : s.results()[0].floors) EXPECT_LT(floor, 10e3);
}

// Barriers that serve once are made before a round: it must not run more episodes than it said.
TEST_F(Harness, NoRoundRunsMoreEpisodesThanItPreparedFor) {
  static std::atomic<std::uint64_t> unprepared;
  class counted final : public timed_barrier_base<counted> {
   public:
    explicit counted(rank_t n) : inner_(n, 0), left_(n) {}
    void prepare(std::uint64_t count) override { left_.assign(left_.size(), episodes_left{count}); }
    void one_episode(rank_t rank) {
      if (left_[rank].episodes-- == 0) unprepared.fetch_add(1, relaxed);
      inner_.arrive_and_wait(rank);
    }

   private:
    struct alignas(cache_line) episodes_left {
      std::uint64_t episodes = 0;
    };
    slowed_barrier inner_;
    std::vector<episodes_left> left_;
  };
  unprepared = 0;
  plan_.contenders = {fake("counted", [](rank_t n) { return std::make_unique<counted>(n); })};
  plan_.scenarios.clear();
  for (const char* name : {"free", "skew_500ns", "imbalance_10us", "neighbour_one"})
    plan_.scenarios.push_back(parse_scenario(name));
  plan_.metrics = {metric::loop, metric::last_in_last_out};
  plan_.length.rounds = 2;
  suite s(plan_);
  s.run(quiet);
  EXPECT_FALSE(s.results().empty());
  EXPECT_EQ(unprepared.load(), 0u);
}

TEST_F(Harness, LinesAreJsonWithTheirKeys) {
  add_delayed(0);
  plan_.length.rounds = 2;
  plan_.shapes = {{2, 2}, {4, 4}};
  plan_.contenders = {fake("yields", [](rank_t n) {
    class yields final : public timed_barrier_base<yields> {
     public:
      explicit yields(rank_t participants) : participants_(participants) {}
      void one_episode(rank_t) {
        const std::uint64_t ticket = count_.fetch_add(1, acq_rel);
        const std::uint64_t target = (ticket / participants_ + 1) * participants_;
        while (count_.load(acquire) < target) sched_yield();
      }

     private:
      const rank_t participants_;
      std::atomic<std::uint64_t> count_{0};
    };
    return std::make_unique<yields>(n);
  })};
  suite s(plan_);
  s.run(quiet);
  std::istringstream lines(json_lines(plan_, s, describe_machine(), {}));
  std::size_t machines = 0, floors = 0, results = 0;
  for (std::string text; std::getline(lines, text);) {
    const auto line = cli::json::parse(text);
    const auto type = line.at("type").get<std::string>();
    if (type == "machine") ++machines;
    if (type == "floor") {
      ++floors;
      for (const char* key : {"quantity", "unit", "min", "median", "p99", "samples"}) {
        EXPECT_TRUE(line.contains(key)) << key;
      }
    }
    if (type != "result") continue;
    ++results;
    for (const char* key : {"benchmark", "provider", "name", "wait", "threads", "cores", "pinned",
                            "scenario", "session", "metric", "unit", "min", "median", "p99",
                            "samples", "floor_median", "ratio_median"}) {
      EXPECT_TRUE(line.contains(key)) << key;
    }
    EXPECT_EQ(line.at("floor"), line.at("threads") == 2 ? "line_one_way" : "yield_rotation");
  }
  EXPECT_EQ(machines, 1u);
  EXPECT_GE(floors, 6u);
  EXPECT_EQ(results, 4u);
}

TEST(Floors, OfAPairAreThoseBetweenItsTwoCpus) {
  const std::vector<floor_quantity> measured{{"line_one_way", "", {0, 1}, 0, {10, 11}},
                                             {"line_one_way", "", {0, 2}, 0, {50, 51}},
                                             {"line_one_way", "", {1, 2}, 0, {90, 91}},
                                             {"timer", "", {0}, 0, {1, 1}}};
  EXPECT_EQ(transfers_between({0, 1}, measured), (std::vector<double>{10, 11}));
  EXPECT_EQ(transfers_between({2, 0}, measured), (std::vector<double>{50, 51}));
  // Without pinning it is not known which pair it is.
  EXPECT_EQ(transfers_between({-1, -1}, measured), (std::vector<double>{50, 51}));
  EXPECT_TRUE(transfers_between({0, 1}, {}).empty());
}

TEST(Floors, ThePairOfAPlacementIsMeasured) {
  const floor_plan plan = plan_floors({2}, {placement{"3,1", {3, 1}}, placement{"none", {}}});
  EXPECT_EQ(plan.pairs, (std::vector<std::pair<int, int>>{{3, 1}}));
}

// Returns ns.
template <class Act>
double time_of(Act act) {
  const std::uint64_t begin = platform::now_ns();
  act();
  return static_cast<double>(platform::now_ns() - begin);
}

TEST_F(Harness, LongWaitsHaveShortRounds) {
  add_delayed(0);
  plan_.scenarios = {parse_scenario("imbalance_200ms")};
  plan_.length.rounds = 1;
  suite s(plan_);
  // With twenty episodes that settle it would be 4.8 s.
  EXPECT_LT(time_of([&] { s.run(quiet); }), 4e9);
  EXPECT_EQ(of_metric(s, metric::last_in_last_out).samples.size(), 4u);
}

TEST_F(Harness, GivesUpWhatTheTimeIsTooShortFor) {
  add_delayed(0);
  plan_.scenarios = {parse_scenario("recover_imbalance_50ms"), parse_scenario("imbalance_200ms")};
  plan_.length.rounds = 0;
  plan_.length.seconds = 0.3;
  suite s(plan_);
  EXPECT_LT(time_of([&] { s.run(quiet); }), 2e9);
  ASSERT_EQ(s.failures().size(), 2u);
  for (const auto& each : s.failures()) {
    EXPECT_NE(each.reason.find("a round takes at least"), std::string::npos) << each.reason;
  }
  EXPECT_EQ(s.sweeps(), 0u);
}

TEST_F(Harness, GivesUpWhatWouldCountAsHung) {
  add_delayed(0);
  plan_.scenarios = {parse_scenario("imbalance_500ms_rotating"), parse_scenario("free")};
  plan_.length.rounds = 1;
  plan_.length.longest_round_s = 2;
  suite s(plan_);
  s.run(quiet);
  ASSERT_EQ(s.failures().size(), 1u);
  EXPECT_NE(s.failures()[0].reason.find("counts as hung"), std::string::npos);
  EXPECT_FALSE(of_metric(s, metric::loop).samples.empty());
}

TEST(Phases, LastAsLongAsTheirWaitsAllow) {
  const auto seconds = [](double wait_ms) {
    round_request request;
    request.late.ns = wait_ms * 1e6;
    return 1e-9 * length_of_phases_ns(request);
  };
  EXPECT_DOUBLE_EQ(seconds(1), 0.43);
  EXPECT_DOUBLE_EQ(seconds(10), 1.5);
  EXPECT_LT(seconds(1000), 60);
}

// Stops the children of this process.
void stop_children() {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) kill(child, SIGSTOP);
  }
}

// Notes the times between its notifications.
class noted_notifier : public counting_notifier<std::uint64_t> {
 public:
  noted_notifier(rank_t receivers, std::vector<double>& ns)
      : counting_notifier(receivers), ns_(ns) {}
  void notify() override {
    const std::uint64_t now = platform::now_ns();
    if (last_ != 0) ns_.push_back(static_cast<double>(now - last_));
    last_ = now;
    // release: the receiver's next round begins after this one; pairs with its load.
    count_.fetch_add(1, release);
  }
  void wait(rank_t receiver) override {
    const std::uint64_t next = ++seen_by(receiver);
    // acquire: pairs with the notifier's count.
    while (count_.load(acquire) < next) sched_yield();
  }

 private:
  std::vector<double>& ns_;
  std::uint64_t last_ = 0;
  std::atomic<std::uint64_t> count_{0};
};

// Nine gaps of 1 ms, then one of 10 ms; each tenth interval is the long one.
TEST(Events, ComeAfterGapsThatTakeTheirCourse) {
  std::vector<double> ns;
  contender noted;
  noted.family = "fake";
  noted.name = "noted";
  noted.events = [&ns](rank_t n) { return std::make_unique<noted_notifier>(n, ns); };
  event_plan plan;
  plan.contenders = {noted};
  plan.receivers = {1};
  plan.scenarios = {parse_scenario("gap_10ms_alternating")};
  plan.where = make_placement("core");
  plan.length.rounds = 1;
  event_suite suite(std::move(plan));
  suite.run([](const std::string&, double) {});
  ASSERT_EQ(suite.results().size(), 1u);
  const auto are_long =
      std::count_if(ns.begin(), ns.end(), [](double each) { return each >= 9e6; });
  EXPECT_EQ(suite.results().front().each.samples.size(), 100u);
  EXPECT_GE(are_long, 12);
  EXPECT_LE(are_long, 40);
}

event_plan plan_of_events(decltype(contender::events) make, const std::string& scenario) {
  contender who;
  who.family = "fake";
  who.name = "event";
  who.events = std::move(make);
  event_plan plan;
  plan.contenders = {who};
  plan.receivers = {1};
  plan.scenarios = {parse_scenario(scenario)};
  plan.where = make_placement("core");
  plan.length.rounds = 1;
  return plan;
}

void ignore(const std::string&, double) {}

TEST(Events, GiveUpIfTheTimeIsTooShortForTheirGaps) {
  std::vector<double> ns;
  event_plan plan = plan_of_events(
      [&ns](rank_t n) { return std::make_unique<noted_notifier>(n, ns); }, "gap_100ms");
  plan.length.rounds = 0;
  plan.length.seconds = 0.5;
  event_suite suite(std::move(plan));
  EXPECT_LT(time_of([&] { suite.run(ignore); }), 1e9);
  EXPECT_NE(suite.results().front().not_measured.find("a round takes at least"), std::string::npos);
}

// A notifier whose neighbours never run.
TEST(Events, RoundsWhoseNeighboursDidNotRunAreFlagged) {
  class stopping final : public noted_notifier {
   public:
    stopping(rank_t n, std::vector<double>& ns) : noted_notifier(n, ns) {}
    void notify() override {
      stop_children();
      noted_notifier::notify();
    }
  };
  std::vector<double> ns;
  event_suite suite(plan_of_events([&ns](rank_t n) { return std::make_unique<stopping>(n, ns); },
                                   "neighbour_one"));
  suite.run(ignore);
  const series_record& each = suite.results().front().each;
  EXPECT_EQ(each.rounds, 1u);
  EXPECT_EQ(each.flagged, 1u);
  EXPECT_TRUE(each.ratios.empty());
}

TEST(Events, ANotificationThatIsLostEndsTheProgram) {
  class lossy final : public notifier {
   public:
    void notify() override {}
    void wait(rank_t) override { pause(); }
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  event_plan plan = plan_of_events([](rank_t) { return std::make_unique<lossy>(); }, "gap_5us");
  plan.length.longest_round_s = 1;
  EXPECT_EXIT(event_suite(plan).run(ignore), testing::ExitedWithCode(hung_status),
              "fake event .receivers: 1. did not finish a round within 1 s");
}

TEST(Trials, AMessageThatIsLostEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  trial lost;
  lost.provider = "fake";
  lost.name = "lossy";
  lost.metric = "others";
  lost.run = [](team&, const placement&, std::uint64_t) {
    pause();
    return 0.0;
  };
  trial_plan plan;
  plan.trials = {lost};
  plan.where = make_placement("core");
  plan.length.rounds = 1;
  plan.length.longest_round_s = 1;
  EXPECT_EXIT(trial_suite(plan).run(ignore), testing::ExitedWithCode(hung_status),
              "fake lossy, others with 2 participants did not finish a round within 1 s");
}

}  // namespace
}  // namespace tutti::bench
