// SPDX-License-Identifier: Apache-2.0
// Runs all recorded programs on every engine with 1 to 17 ranks, and a sample with every barrier.
#include <gtest/gtest.h>

#include <algorithm>

#include "tutti/registry.hpp"
#include "tutti/team/team.hpp"
#include "vcode/tests/recorded.hpp"

namespace tutti::vcode::test {
namespace {

constexpr unsigned rank_counts[] = {1, 2, 3, 4, 8, 17};

void expect_all(engine e, unsigned ranks, bool strict) {
  team_options threads;
  threads.threads = std::min(ranks, 2U);
  threads.ranks = ranks;
  // The same options as in run().
  threads.fibers.checks = false;
  team members(threads);
  run_options how;
  how.engine = e;
  how.team = &members;
  how.strict = strict;
  for (const char* folder : {"conformance", "nesl-compiled", "nesltest", "micro"}) {
    for (const auto& each : recorded_programs(folder)) {
      // Benchmark loops have no output; one engine is enough to check that they end.
      if (each.name.starts_with("micro/") && (e != engine::lazy || ranks > 1)) continue;
      expect_recorded(each, how);
    }
  }
}

class VcodeRanks : public testing::TestWithParam<unsigned> {};

TEST_P(VcodeRanks, Lazy) { expect_all(engine::lazy, GetParam(), false); }
TEST_P(VcodeRanks, Workers) { expect_all(engine::workers, GetParam(), false); }
TEST_P(VcodeRanks, Spmd) { expect_all(engine::spmd, GetParam(), false); }
TEST_P(VcodeRanks, LazyStrict) { expect_all(engine::lazy, GetParam(), true); }

INSTANTIATE_TEST_SUITE_P(Counts, VcodeRanks, testing::ValuesIn(rank_counts));

TEST(VcodeBarriers, OnASample) {
  for (const char* name : {"nesl-compiled/quicksort_1e5", "nesl-compiled/bh_det"}) {
    const recorded_program sample = recorded(name);
    for (const auto& each : algorithms) {
      for (const engine e : {engine::spmd, engine::workers, engine::lazy}) {
        run_options how;
        how.engine = e;
        how.threads = 2;
        how.barrier = each.name;
        expect_recorded(sample, how);
      }
    }
  }
}

}  // namespace
}  // namespace tutti::vcode::test
