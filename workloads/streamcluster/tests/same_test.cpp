// SPDX-License-Identifier: Apache-2.0
// The bits are the same with any threads, virtual ranks, barriers, waits and instruction sets.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "tests/support/dummy_provider.hpp"
#include "tutti/registry.hpp"
#include "workloads/streamcluster/streamcluster.hpp"

namespace tutti::streamcluster {
namespace {

constexpr std::uint64_t count = 1500;
constexpr std::size_t dimensions = 12;

clustering run(const team_options& o, collectives_kind kind = collectives_kind::team) {
  options how;
  how.k_min = 5;
  how.k_max = 8;
  how.chunk = 600;
  how.seed = 3;
  how.collectives = kind;
  team ranks(o);
  const auto points = generate(count, dimensions, 3);
  return cluster(ranks, *points, how);
}

team_options on(rank_t threads, rank_t ranks = 0, std::string_view barrier = {},
                std::string_view wait = "adaptive") {
  return {.threads = threads, .ranks = ranks, .barrier = barrier, .wait = wait};
}

const clustering& of_one_thread() {
  static const clustering found = run(on(1));
  return found;
}

void expect_same(const clustering& found) {
  const clustering& expected = of_one_thread();
  EXPECT_EQ(found.coordinates, expected.coordinates);
  EXPECT_EQ(found.weights, expected.weights);
  EXPECT_EQ(found.positions, expected.positions);
  EXPECT_EQ(found.cost, expected.cost);
  EXPECT_EQ(fingerprint(found), fingerprint(expected));
  EXPECT_EQ(found.counts.barriers, expected.counts.barriers);
  EXPECT_EQ(found.counts.reductions, expected.counts.reductions);
}

TEST(Same, ForAnyNumberOfThreads) {
  for (const rank_t n : {2U, 3U, 4U, 5U, 8U}) {
    SCOPED_TRACE(n);
    expect_same(run(on(n)));
  }
}

TEST(Same, WithTheBarrierOfAProvider) {
  tutti::test::dummy_provider dummy;
  expect_same(run(on(2, 0, "dummy")));
  EXPECT_GT(dummy.arrivals(), 0u);
}

TEST(Same, ForVirtualRanks) {
  for (const rank_t n : {3U, 17U, 40U}) {
    SCOPED_TRACE(n);
    expect_same(run(on(2, n)));
  }
}

class SameForBarrier : public testing::TestWithParam<std::string_view> {};

TEST_P(SameForBarrier, WithThreeThreads) { expect_same(run(on(3, 0, GetParam()))); }

INSTANTIATE_TEST_SUITE_P(Registry, SameForBarrier,
                         testing::Values("counting", "central", "pool", "striped", "flags",
                                         "recursive_padded", "mutex", "combining", "mcs",
                                         "dissemination", "dissemination_4", "tournament",
                                         "hierarchical"),
                         [](const auto& barrier) { return std::string(barrier.param); });

TEST(Same, ForEveryWait) {
  for (const wait_info& wait : wait_policies) {
    if (!wait.available()) continue;
    SCOPED_TRACE(wait.name);
    expect_same(run(on(2, 0, "central", wait.name)));
  }
}

TEST(Same, ForForeignBarriers) {
  expect_same(run(on(3), collectives_kind::pthread));
  expect_same(run(on(3), collectives_kind::standard));
}

TEST(Same, ForEveryInstructionSetThatTheMachineHas) {
  const std::int64_t all = hwy::SupportedTargets();
  int tried = 0;
  for (std::int64_t rest = all; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(distance_instructions());
    expect_same(run(on(2)));
    ++tried;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_GE(tried, 1);
}

TEST(Same, ButNotForAnotherSeed) {
  options how;
  team ranks(2);
  const auto points = generate(count, dimensions, 4);
  EXPECT_NE(fingerprint(cluster(ranks, *points, how)), fingerprint(of_one_thread()));
}

// A change of the algorithm changes this value; a new compiler or processor does not, because
// integers and single roundings decide everything.
TEST(Same, AsRecorded) {
  const clustering& found = of_one_thread();
  EXPECT_EQ(found.weights, (std::vector<double>{150, 307, 235, 457, 207, 144}));
  EXPECT_EQ(found.positions, (std::vector<std::uint64_t>{467, 673, 793, 811, 820, 1000}));
  EXPECT_NEAR(found.cost, 1341.34191939, 1e-6);
}

}  // namespace
}  // namespace tutti::streamcluster
