// SPDX-License-Identifier: Apache-2.0
// What --peers, `tutti info` and the lines of --json make of a peer that is one file:
// dummy_peer/dummy.cpp.
#include <gtest/gtest.h>

#include "bench/suite/report.hpp"
#include "bench/suite/suite.hpp"
#include "bench/trials/report.hpp"
#include "bench/trials/suite.hpp"
#include "tests/support/json_lines.hpp"

namespace tutti::bench {
namespace {

void quiet(const std::string&, double) {}

struct benchmark {
  operation what;
  const char* name;
  std::vector<episode_kind> kinds;
};

class PeerRecipe : public testing::TestWithParam<benchmark> {};

TEST_P(PeerRecipe, IsChosenByItsNameAndMeasured) {
  const peer_list list = peers_of(GetParam().what);
  EXPECT_GT(list.peers.size(), 1u) << "the others are there too";
  plan p;
  p.benchmark = GetParam().name;
  p.kinds = GetParam().kinds;
  p.contenders = choose(list, {"dummy"});
  ASSERT_EQ(p.contenders.size(), 1u);
  p.shapes = {{2, 2}};
  p.placements = {make_placement("none")};
  p.scenarios = {parse_scenario("free")};
  p.length.rounds = 1;
  suite s(p);
  s.run(quiet);
  EXPECT_TRUE(s.failures().empty()) << s.failures()[0].reason;
  const auto results = test::results_of(json_lines(p, s, describe_machine(), list.missing));
  EXPECT_EQ(results.size(), GetParam().what == operation::barrier ? 2u : p.kinds.size());
  for (const auto& line : results) {
    EXPECT_EQ(line.at("provider"), "dummy");
    EXPECT_EQ(line.at("name"), "everything");
    EXPECT_EQ(line.at("benchmark"), GetParam().name);
    EXPECT_GT(line.at("median").get<double>(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Benchmarks, PeerRecipe,
    testing::Values(benchmark{operation::barrier, "barrier", {{operation::barrier, 0}}},
                    benchmark{operation::region, "region", kinds_of_regions()},
                    benchmark{operation::collective, "reduce", kinds_of_reductions()}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(PeerRecipe, ItsTrialsAreMeasuredToo) {
  trial_plan p;
  for (auto& t : peer_trials(2, false)) {
    if (t.provider == "dummy") p.trials.push_back(std::move(t));
  }
  p.where = make_placement("none");
  p.length.rounds = 1;
  trial_suite s(p);
  s.run(quiet);
  const auto results = test::results_of(json_lines(s, describe_machine()));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].at("benchmark"), "idle");
  EXPECT_EQ(results[0].at("provider"), "dummy");
}

TEST(PeerRecipe, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    choose(peers_of(operation::region), {"nonsense"});
    FAIL();
  } catch (const std::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("dummy"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tutti::bench
