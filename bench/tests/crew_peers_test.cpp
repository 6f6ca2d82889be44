// SPDX-License-Identifier: Apache-2.0
// Every provider of regions and of reductions does what it says, with more threads than cores too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "bench/crew/suite.hpp"

namespace tutti::bench {
namespace {

enum class benchmark { regions, reductions };

struct subject_of_test {
  benchmark what;
  crew_provider who;
};

// A test is no `tutti`: the programs of peers are not where it would look.
crew_provider with_program(crew_provider who) {
  if (who.in_process()) return who;
  const std::string runtime = who.a_process_each_rank ? "mpi" : who.family;
  who.executable = TUTTI_TEST_PEERS "/tutti-peer-" + runtime;
  return who;
}

std::vector<subject_of_test> all_subjects() {
  std::vector<subject_of_test> all;
  const auto add = [&](benchmark what, const std::vector<crew_provider>& providers) {
    for (const auto& who : providers) {
      const crew_provider found = with_program(who);
      if (!found.in_process() && !std::filesystem::exists(found.executable)) continue;
      if (who.name == "active" || who.name == "passive")
        continue;  // the same program, set otherwise
      all.push_back({what, found});
    }
  };
  for (const auto& who : choose_teams({"default", "flags"}, {"adaptive"})) {
    add(benchmark::regions, {who});
    add(benchmark::reductions, {who});
  }
  add(benchmark::regions, known_region_peers());
  add(benchmark::reductions, known_reduction_peers());
  return all;
}

std::string name_of_test(const testing::TestParamInfo<subject_of_test>& info) {
  std::string name = info.param.what == benchmark::regions ? "regions_" : "reductions_";
  name += info.param.who.family + "_" + info.param.who.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
      '_');
  return name;
}

class CrewPeer : public testing::TestWithParam<subject_of_test> {};

TEST_P(CrewPeer, IsMeasuredAndRight) {
  crew_plan plan;
  const bool regions = GetParam().what == benchmark::regions;
  plan.benchmark = regions ? "region" : "reduce";
  plan.kinds = regions ? kinds_of_regions() : kinds_of_reductions();
  if (regions) plan.kinds.push_back({false, 0, 1000});
  plan.providers = {GetParam().who};
  // Threads that only spin take a slice of the scheduler each: fewer of them, or the test takes ten seconds.
  const bool spins = GetParam().who.name == "spins";
  plan.shapes = {{1, 1}, {2, 2}, spins ? crew_shape{3, 3} : crew_shape{5, 5}};
  if (plan.providers[0].has_fibers) plan.shapes.push_back({2, 7});
  plan.placements = {make_placement("core")};
  plan.scenarios = {parse_scenario("free")};
  plan.length.rounds = 1;
  crew_suite s(plan);
  s.run([](const std::string&, double) {});
  for (const auto& failure : s.failures()) ADD_FAILURE() << failure.reason;
  EXPECT_FALSE(s.results().empty());
  for (const auto& result : s.results()) EXPECT_FALSE(result.samples.empty());
}

INSTANTIATE_TEST_SUITE_P(All, CrewPeer, testing::ValuesIn(all_subjects()), name_of_test);

}  // namespace
}  // namespace tutti::bench
