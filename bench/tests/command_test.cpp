// SPDX-License-Identifier: Apache-2.0
// Runs the program `tutti` as a user would: its lines, its errors, its exit statuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/json_lines.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/wrong_usage.hpp"

namespace {

using tutti::test::output;
using tutti::test::results_of;

const tutti::test::program command(TUTTI_TEST_COMMAND);

class WrongUsage : public testing::TestWithParam<const char*> {};

TEST_P(WrongUsage, IsOneSentenceAndStatusTwo) {
  tutti::test::expect_wrong_usage(command, "tutti", GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Command, WrongUsage,
    testing::Values(
        "", "nonsense", "--nonsense", "info --nonsense", "info extra", "bench", "bench nonsense",
        "bench barrier --nonsense", "bench barrier extra", "bench barrier --threads",
        "bench barrier --threads ''", "bench barrier --threads 0", "bench barrier --threads -1",
        "bench barrier --threads 2,", "bench barrier --threads 2.5", "bench barrier --threads two",
        "bench barrier --threads 99999", "bench barrier --algorithms nonsense",
        "bench barrier --algorithms ''", "bench barrier --wait nonsense",
        "bench barrier --peers nonsense", "bench barrier --peers libomp:nonsense",
        "bench barrier --algorithms none --peers none", "bench barrier --pin nonsense",
        "bench barrier --pin 0,99999", "bench barrier --pin 1-0", "bench barrier --pin core,0",
        "bench barrier --scenario nonsense", "bench barrier --imbalance 10",
        "bench barrier --imbalance -1us", "bench barrier --neighbour two",
        "bench barrier --neighbour ''", "bench barrier --imbalance 1ms_backwards",
        "bench barrier --imbalance 1m", "bench barrier --work 1us", "bench barrier --work 9us-1us",
        "bench barrier --work -1us-9us", "bench barrier --background some",
        "bench barrier --neighbours-each 2", "bench barrier --neighbour one --neighbours-each 0",
        "bench barrier --session mine", "bench barrier --session own", "bench event --session same",
        "bench barrier --quota 0", "bench barrier --quota -1", "bench barrier --quota much",
        "bench barrier --recover nonsense", "bench barrier --recover background_light",
        "bench barrier --gap 60us", "bench barrier --scenario gap_60us",
        "bench barrier --metric nonsense", "bench barrier --metric cpu_time",
        "bench barrier --rounds 0", "bench barrier --rounds x", "bench barrier --time 0",
        "bench barrier --time forever", "bench barrier --rounds 1 --time 1",
        "bench barrier --seed x", "bench barrier --json=maybe", "bench event --receivers 0",
        "bench event --receivers 65", "bench event --events nonsense",
        "bench event --waits nonsense", "bench event --events none --waits nonsense --peers futex",
        "bench event --peers nonsense", "bench event --events none --peers none",
        "bench event --gap 10", "bench event --imbalance 1us", "bench event --bounds --receivers 2",
        "bench event --bounds --peers none", "bench event --bounds --gap 1ms",
        "bench event --bounds --pin 0", "bench event --quota 1.5",
        "bench event --scenario quota_1.5", "bench event --bounds --scenario free",
        "bench instruction --form", "bench instruction --json --markdown", "bench vcode --busy 1",
        "bench vcode --time 5", "bench vcode --chains 1", "bench vcode --form",
        "bench vcode --json --markdown", "bench vcode --json --processes",
        "bench vcode --json --counts", "bench vcode --threads 2 --counts", "graph --list --json"));

INSTANTIATE_TEST_SUITE_P(
    Crews, WrongUsage,
    testing::Values(
        "bench team extra", "bench team --threads 0", "bench team --threads 99999",
        "bench team --ranks 1", "bench team --ranks 0", "bench team --ranks x",
        "bench team --kind nonsense", "bench team --elements 10 --kind empty",
        "bench team --kind barrier", "bench team --algorithms nonsense",
        "bench team --algorithms default_rankless", "bench team --wait nonsense",
        "bench team --peers nonsense", "bench team --peers openmpi",
        "bench team --peers libomp:nonsense", "bench team --peers rayon:active",
        "bench team --peers forkunion:sleeps", "bench team --algorithms none --peers none",
        "bench team --pin 1-0", "bench team --scenario nonsense",
        "bench team --scenario imbalance_1ms", "bench team --scenario skew_1us",
        "bench team --neighbour two", "bench team --gap 60", "bench team --gap -1us",
        "bench team --gap 60us_rotating", "bench team --gap ''", "bench team --imbalance 1ms",
        "bench team --scenario recover_neighbour_one", "bench team --background nonsense",
        "bench team --quota 1.5x", "bench team --session ''", "bench team --rounds 0",
        "bench team --time 0", "bench team --rounds 1 --time 1", "bench team --seed x",
        "bench reduce extra", "bench reduce --kind empty", "bench reduce --kind ''",
        "bench reduce --peers tbb", "bench reduce --ranks 1", "bench reduce --rounds x"));

TEST(Command, HelpAndVersionSucceed) {
  for (const char* arguments :
       {"--help", "--version", "info --help", "bench --help", "bench barrier --help",
        "bench team --help", "bench reduce --help"}) {
    const output result = command.standard_output(arguments);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_FALSE(result.text.empty()) << arguments;
  }
}

TEST(Command, InfoIsATableOrJson) {
  EXPECT_NE(command.standard_output("info").text.find("Algorithms"), std::string::npos);
  const output result = command.standard_output("info --json");
  EXPECT_EQ(result.status, 0);
  const auto info = tutti::cli::json::parse(result.text);
  EXPECT_EQ(info.at("type"), "info");
  EXPECT_GE(info.at("machine").at("cores").get<int>(), 1);
  EXPECT_FALSE(info.at("algorithms").empty());
  EXPECT_FALSE(info.at("wait_policies").empty());
  EXPECT_FALSE(info.at("peers").empty());
  EXPECT_FALSE(info.at("region_peers").empty());
  EXPECT_FALSE(info.at("reduction_peers").empty());
}

// Those that cargo must fetch are there, or it is said why not.
TEST(Command, InfoNamesThePeersOfRegions) {
  const auto info = tutti::cli::json::parse(command.standard_output("info --json").text);
  for (const char* family : {"libgomp", "tbb", "forkunion", "eigen", "rayon", "pthread"}) {
    std::size_t there = 0, missing = 0;
    for (const auto& peer : info.at("region_peers")) {
      if (peer.at("provider") != family) continue;
      ++(peer.at("available").get<bool>() ? there : missing);
      EXPECT_TRUE(peer.contains(peer.at("available").get<bool>() ? "name" : "reason"));
    }
    EXPECT_NE(there > 0, missing == 1) << family;
    const auto text = command.standard_output("info").text;
    EXPECT_NE(text.find(std::string(family) + (there > 0 ? ":" : " ")), std::string::npos)
        << family;
  }
}

TEST(Command, BenchBarrierWritesJsonLines) {
  const output result = command.standard_output(
      "bench barrier --threads 2 --algorithms default --peers pthread,std --rounds 2 --json");
  EXPECT_EQ(result.status, 0);
  const auto lines = tutti::test::json_lines(result.text);
  ASSERT_FALSE(lines.empty());
  const auto& machine = lines[0];
  EXPECT_EQ(machine.at("type"), "machine");
  for (const char* key : {"cpu", "cores", "smt", "kernel", "compiler", "commit", "load",
                          "foreign_load", "steal", "pinning"}) {
    EXPECT_TRUE(machine.contains(key)) << key;
  }
  EXPECT_EQ(results_of(result.text).size(), 6u);  // three barriers, loop and last_in_last_out
}

std::vector<tutti::cli::json> measured_by(const std::string& arguments) {
  const output result = command.standard_output(arguments);
  EXPECT_EQ(result.status, 0);
  return results_of(result.text);
}

void expect_table(const std::string& arguments, const std::vector<std::string>& texts) {
  const output result = command.standard_output(arguments);
  EXPECT_EQ(result.status, 0);
  for (const auto& text : texts) EXPECT_NE(result.text.find(text), std::string::npos) << text;
}

TEST(Command, BenchBarrierWritesATable) {
  expect_table("bench barrier --threads 3 --algorithms none --peers pthread --rounds 1 --pin none",
               {"pthread_barrier", "3 threads on"});
}

TEST(Command, BenchTeamWritesJsonLines) {
  const auto results = measured_by(
      "bench team --threads 2 --ranks none --algorithms default,flags --peers pthread,std_thread "
      "--rounds 1 --json");
  EXPECT_EQ(results.size(), 8u);  // four providers, two kinds of regions
  for (const auto& line : results) {
    EXPECT_EQ(line.at("benchmark"), "region");
    EXPECT_EQ(line.at("threads"), 2);
    EXPECT_GT(line.at("median").get<double>(), 0);
    EXPECT_FALSE(line.at("over_default_median").is_null());
  }
}

TEST(Command, BenchTeamMeasuresAfterAGap) {
  const auto results = measured_by(
      "bench team --threads 2 --ranks none --kind empty --algorithms default --peers pthread "
      "--gap none,60us --background none,light --product --session same,own --rounds 1 --json");
  std::vector<std::string> found;
  for (const auto& line : results) {
    if (line.at("provider") != "tutti") continue;
    const auto session = line.at("session");
    found.push_back(line.at("scenario").get<std::string>() + " " +
                    (session.is_null() ? "-" : session.get<std::string>()) + " " +
                    line.at("metric").get<std::string>());
  }
  std::sort(found.begin(), found.end());
  const std::vector<std::string> expected{"background_light own loop",
                                          "background_light same loop",
                                          "free - loop",
                                          "gap_60us - cpu_time",
                                          "gap_60us - latency",
                                          "gap_60us+background_light own cpu_time",
                                          "gap_60us+background_light own latency",
                                          "gap_60us+background_light same cpu_time",
                                          "gap_60us+background_light same latency"};
  EXPECT_EQ(found, expected);
}

TEST(Command, AQuotaIsMeasuredOrSkippedWithTheReason) {
  const output result = command.standard_output(
      "bench barrier --threads 2 --algorithms default --peers none --quota 1.5 --rounds 1 --json");
  const auto results = results_of(result.text);
  EXPECT_EQ(result.status, results.empty() ? 1 : 0);
  if (!results.empty()) {
    EXPECT_EQ(results[0].at("scenario"), "quota_1.5");
    return;
  }
  EXPECT_NE(result.text.find("cgroup"), std::string::npos);
  EXPECT_NE(result.text.find("skipped"), std::string::npos);
}

TEST(Command, ASentenceOfAFailureStandsOnStandardErrorAlone) {
  const std::string arguments =
      "bench barrier --threads 1 --algorithms none --peers openmpi,mpich --rounds 1";
  const output table = command.standard_output(arguments);
  const output told = command.standard_error(arguments);
  if (told.text.find("nothing was measured") == std::string::npos) GTEST_SKIP() << told.text;
  EXPECT_EQ(told.status, 1);
  EXPECT_EQ(table.text.find("nothing was measured"), std::string::npos);
}

// --product joins what is listed, and adds nothing.
TEST(Command, AProductOfNothingAddsNoScenario) {
  const auto results = measured_by(
      "bench barrier --threads 2 --algorithms default --peers none --scenario skew_1us --product "
      "--rounds 1 --json");
  ASSERT_FALSE(results.empty());
  for (const auto& line : results) EXPECT_EQ(line.at("scenario"), "skew_1us");
}

TEST(Command, BenchTeamMeasuresFibersOfTuttiAlone) {
  const auto results = measured_by(
      "bench team --threads 2 --ranks 40 --algorithms default --peers pthread --rounds 1 --json");
  std::size_t of_fibers = 0;
  for (const auto& line : results) {
    if (line.at("ranks") == 2) continue;
    ++of_fibers;
    EXPECT_EQ(line.at("ranks"), 40);
    EXPECT_EQ(line.at("provider"), "tutti");
  }
  EXPECT_EQ(of_fibers, 3u);  // empty, reduce2, and the barrier inside
}

TEST(Command, BenchReduceShowsTheBarrierBeside) {
  const auto results = measured_by(
      "bench reduce --threads 2 --ranks none --kind barrier,reduce2 --algorithms default --peers "
      "pthread --rounds 1 --json");
  EXPECT_EQ(results.size(), 4u);
  for (const auto& line : results) {
    EXPECT_EQ(line.at("benchmark"), "reduce");
    EXPECT_EQ(line.at("over_barrier_median").is_null(), line.at("kind") == "barrier");
  }
}

TEST(Command, BenchTeamWritesATable) {
  expect_table(
      "bench team --threads 3 --ranks none --algorithms none --peers mutex_condvar --rounds 1",
      {"mutex+condvar pool", "empty region: 3 threads on"});
}

TEST(Command, NotifiesByEveryEventAndPeer) {
  const std::string arguments = "bench event --receivers 1,3 --gap 5us --rounds 1 --json";
  std::vector<std::string> providers, metrics, names;
  const output result = command.standard_output(arguments);
  EXPECT_EQ(result.status, 0);
  for (const auto& line : results_of(result.text)) {
    EXPECT_EQ(line.at("benchmark"), "event");
    EXPECT_GE(line.at("samples").get<int>(), 100) << line;
    providers.push_back(line.at("provider").get<std::string>());
    metrics.push_back(line.at("metric").get<std::string>());
    names.push_back(line.at("name").get<std::string>());
  }
  for (const char* name : {"tutti", "pthread", "std", "futex", "descriptors", "posix"})
    EXPECT_NE(std::count(providers.begin(), providers.end(), name), 0) << name;
  const auto machine = tutti::test::json_lines(result.text).front();
  EXPECT_EQ(machine.at("pinning").size(), 1u);
  EXPECT_EQ(machine.at("seed"), 1);
  // Virtual ranks, and what a system may lack, which a line then says.
  EXPECT_NE(std::count(names.begin(), names.end(), "ranks"), 0);
  for (const std::string name : {"membarrier", "io_uring", "tbb", "absl"}) {
    const std::string skipped = R"({"type":"skipped","benchmark":"event","provider":")" + name;
    EXPECT_TRUE(std::count(providers.begin(), providers.end(), name) != 0 ||
                result.text.find(skipped) != std::string::npos)
        << name;
  }
  for (const char* name :
       {"unicast", "broadcast", "broadcast_first", "broadcast_last", "broadcast_sigma"})
    EXPECT_NE(std::count(metrics.begin(), metrics.end(), name), 0) << name;
}

TEST(Command, NotifiesInTheScenariosThatAreAskedFor) {
  const auto results = measured_by(
      "bench event --receivers 1 --events none --peers futex:futex --scenario free --rounds 1 "
      "--json");
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].at("scenario"), "free");
}

TEST(Command, SaysWhichReceiversHaveNoCore) {
  const output result = command.standard_output(
      "bench event --receivers 64 --events event --waits spin --peers none --gap 5us --rounds 1 "
      "--json");
  if (std::thread::hardware_concurrency() > 64) GTEST_SKIP() << "they have one each";
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.text.find(R"({"type":"skipped","benchmark":"event","provider":"tutti","name":)"
                             R"("event","wait":"spin","threads":65)"),
            std::string::npos)
      << result.text;
}

TEST(Command, TellsWhichBoundsOfEventsAreKept) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "the bounds are for two cores";
  const output result = command.standard_output("bench event --bounds --rounds 1 --json");
  EXPECT_EQ(result.status, 0);
  std::vector<double> shares;
  std::vector<std::string> bounds, floors;
  for (const auto& line : tutti::test::json_lines(result.text)) {
    if (line.at("type") != "bound") continue;
    EXPECT_EQ(line.at("sweeps"), 1);
    const double share = line.at("share").get<double>();
    EXPECT_GT(share, 0);
    EXPECT_EQ(line.at("kept").get<bool>(), share <= 1);
    const std::string floor_of = line.at("floor_of").get<std::string>();
    if (!floor_of.empty()) {
      floors.push_back(floor_of);
      continue;
    }
    shares.push_back(share);
    bounds.push_back(line.at("what").get<std::string>());
  }
  EXPECT_EQ(shares.size(), 8u);
  EXPECT_EQ(floors.size(), 2u);
  for (const std::string& floor : floors)
    EXPECT_NE(std::count(bounds.begin(), bounds.end(), floor), 0) << floor;
  EXPECT_TRUE(std::is_sorted(shares.rbegin(), shares.rend()));
  EXPECT_EQ(result.text.find(R"("type":"result")"), std::string::npos);
}

}  // namespace
