// SPDX-License-Identifier: Apache-2.0
// Runs tutti-synthetic as a user would and checks its lines, its errors and its exit statuses.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/json_lines.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/wrong_usage.hpp"
#include "workloads/synthetic/program/plan.hpp"

namespace tutti::synthetic {
namespace {

using test::output;

const test::program command(TUTTI_TEST_SYNTHETIC);

class WrongUsage : public testing::TestWithParam<const char*> {};

TEST_P(WrongUsage, IsOneSentenceAndStatusTwo) {
  test::expect_wrong_usage(command, "tutti-synthetic", GetParam());
}

INSTANTIATE_TEST_SUITE_P(Program, WrongUsage,
                         testing::Values("--nonsense", "extra", "--regions 0", "--regions x",
                                         "--length -1", "--set l4", "--set 5", "--access sideways",
                                         "--lines 0", "--length 1.5", "--length 99999999999",
                                         "--threads 0", "--threads 2,", "--threads 100000",
                                         "--barrier nonsense", "--barrier ''", "--wait nonsense",
                                         "--peers nonsense", "--barrier none --peers none",
                                         "--pin nowhere", "--seconds 0", "--seconds x",
                                         "--seed -1"));

std::set<std::string> names_of(const std::vector<bench::contender>& providers) {
  std::set<std::string> names;
  for (const auto& who : providers) names.insert(who.family + " " + who.name);
  return names;
}

TEST(Plan, HasThePapersNumbersByDefault) {
  request r;
  r.threads = "2";
  EXPECT_EQ(make_plan(r).regions, 10'000'000U);
  EXPECT_EQ(make_plan(r).length, 0U);
  r.length = "10000";
  EXPECT_EQ(make_plan(r).regions, 100'000U);
  r.regions = "12";
  EXPECT_EQ(make_plan(r).regions, 12U);
}

TEST(Plan, HasThePapersBarriersTuttisChoiceAndThePeers) {
  request r;
  r.threads = "2";
  const auto names = names_of(make_plan(r).contenders);
  for (const char* name : {"tutti default", "tutti flags", "tutti flags_padded", "tutti recursive",
                           "tutti recursive_padded", "tutti atomic", "tutti mutex"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (const auto& peer : names_of(peers().peers)) EXPECT_TRUE(names.contains(peer)) << peer;
}

void check_result(const cli::json& line) {
  EXPECT_EQ(line.at("benchmark"), "synthetic");
  EXPECT_EQ(line.at("metric"), "region");
  EXPECT_EQ(line.at("unit"), "ns");
  EXPECT_EQ(line.at("length"), 100);
  EXPECT_EQ(line.at("threads"), 2);
  EXPECT_EQ(line.at("regions"), 100'000);
  EXPECT_EQ(line.at("verified"), "each_region");
  const auto median = line.at("median").get<double>();
  EXPECT_GT(median, 0);
  EXPECT_LE(line.at("min").get<double>(), median);
  EXPECT_LE(median, line.at("p99").get<double>());
  EXPECT_NEAR(line.at("seconds_for_regions").get<double>(), median * 1e5 * 1e-9, 1e-6);
  EXPECT_GE(line.at("samples").get<int>(), 3);
}

TEST(Plan, HasEverySetWithEveryAccess) {
  request r;
  r.threads = "2";
  r.sets = "none,16K,memory";
  std::vector<std::string> names;
  for (const situation& each : make_plan(r).situations) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"free", "stream_16K", "random_16K", "stream_memory",
                                             "random_memory"}));
}

// Runs a little of everything, including each peer's process. The test does not know which of these
// were built; they lie beside the program.
TEST(Program, WritesALineForEachThatItMeasures) {
  const output result = command.standard_output("--threads 2 --length 100 --seconds 5 --json");
  EXPECT_EQ(result.status, 0) << command.standard_error("--threads 2 --seconds 5").text;
  EXPECT_TRUE(result.text.starts_with("{\"type\":\"machine\"")) << result.text.substr(0, 80);
  std::set<std::string> measured, missing;
  for (const auto& line : test::json_lines(result.text)) {
    if (line.at("type") == "result") {
      check_result(line);
      const auto family = line.at("provider").get<std::string>(),
                 name = line.at("name").get<std::string>();
      EXPECT_TRUE(measured.insert(family + " " + name).second) << line.dump();
    } else if (line.at("type") == "skipped") {
      // A provider with a name would have failed.
      EXPECT_FALSE(line.contains("name")) << line.dump();
      missing.insert(line.at("provider").get<std::string>());
    }
  }
  request r;
  r.threads = "2";
  for (const auto& who : names_of(make_plan(r).contenders)) {
    EXPECT_TRUE(measured.contains(who)) << who;
  }
  for (const auto& peer : bench::all_peers()) {
    if (!peer.does(bench::operation::region) || peer.only_loops) continue;
    const bool is_measured = measured.contains(peer.family + " " + peer.name);
    EXPECT_NE(is_measured, missing.contains(peer.family)) << peer.family << " " << peer.name;
  }
}

TEST(Program, TellsTheTimeOfAllRegionsInATable) {
  const output result =
      command.standard_output("--threads 2 --barrier default,flags --peers none --seconds 1");
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.text.find("tutti flags, adaptive"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("one region times 10000000"), std::string::npos) << result.text;
}

}  // namespace
}  // namespace tutti::synthetic
