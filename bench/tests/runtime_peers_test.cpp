// SPDX-License-Identifier: Apache-2.0
// Every provider of regions and of reductions does what it says, with more threads than cores too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "bench/suite/suite.hpp"

namespace tutti::bench {
namespace {

struct case_of_test {
  operation what;
  contender who;
};

// A test is no `tutti`: the programs of peers are not where it would look.
contender with_program(contender who) {
  if (!who.in_process())
    who.process.executable = TUTTI_TEST_PEERS "/tutti-peer-" + who.process.program;
  return who;
}

std::vector<case_of_test> all_cases() {
  std::vector<contender> all = choose_teams({"default", "flags"}, {"adaptive"});
  for (auto& peer : all_peers()) all.push_back(std::move(peer));
  std::vector<case_of_test> cases;
  for (const operation what : {operation::region, operation::collective}) {
    for (const auto& who : all) {
      const contender found = with_program(who);
      if (!found.does(what)) continue;
      if (!found.in_process() && !std::filesystem::exists(found.process.executable)) continue;
      if (who.name == "active" || who.name == "passive")
        continue;  // the same program, set otherwise
      cases.push_back({what, found});
    }
  }
  return cases;
}

std::string name_of_test(const testing::TestParamInfo<case_of_test>& info) {
  std::string name = info.param.what == operation::region ? "regions_" : "reductions_";
  name += info.param.who.family + "_" + info.param.who.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

class RuntimePeer : public testing::TestWithParam<case_of_test> {};

TEST_P(RuntimePeer, IsMeasuredAndRight) {
  bench::plan plan;
  const bool regions = GetParam().what == operation::region;
  plan.benchmark = regions ? "region" : "reduce";
  plan.kinds = regions ? kinds_of_regions() : kinds_of_reductions();
  const episode_kind loop{operation::region, 0, 1000};
  if (GetParam().who.only_loops) plan.kinds.clear();
  if (regions) plan.kinds.push_back(loop);
  plan.contenders = {GetParam().who};
  // Threads that only spin take a slice of the scheduler each: fewer of them, or the test takes ten
  // seconds.
  const bool spins = GetParam().who.name == "spins";
  plan.shapes = {{1, 1}, {2, 2}, spins ? shape{3, 3} : shape{5, 5}};
  if (plan.contenders[0].has_fibers) plan.shapes.push_back({2, 7});
  plan.placements = {make_placement("core")};
  plan.scenarios = {parse_scenario("free")};
  plan.length.rounds = 1;
  suite s(plan);
  s.run([](const std::string&, double) {});
  for (const auto& failure : s.failures()) ADD_FAILURE() << failure.reason;
  EXPECT_FALSE(s.results().empty());
  for (const auto& result : s.results()) EXPECT_FALSE(result.samples.empty());
}

INSTANTIATE_TEST_SUITE_P(All, RuntimePeer, testing::ValuesIn(all_cases()), name_of_test);

}  // namespace
}  // namespace tutti::bench
