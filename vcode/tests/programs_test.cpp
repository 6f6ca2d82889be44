// SPDX-License-Identifier: Apache-2.0
// Runs the short recorded programs on every engine, with more ranks than there are cores.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "tests/support/dummy_provider.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/team.hpp"
#include "vcode/tests/recorded.hpp"

namespace tutti::vcode::test {
namespace {

void expect_all(const std::string& folder, const run_options& how) {
  for (const auto& each : recorded_programs(folder)) {
    if (!is_long(each)) expect_recorded(each, how);
  }
}

// Each team is made once, since making one takes longer than most of the programs.
run_options with(engine e, unsigned threads, unsigned ranks = 0) {
  static std::map<std::pair<unsigned, unsigned>, std::unique_ptr<team>> teams;
  run_options how;
  how.engine = e;
  if (e == engine::lazy && threads == 1) return how;
  auto& found = teams[{threads, ranks}];
  if (found == nullptr) {
    team_options made;
    made.threads = threads;
    made.ranks = ranks;
    // The same options as in run().
    made.fibers.checks = false;
    found = std::make_unique<team>(made);
  }
  how.team = found.get();
  return how;
}

TEST(VcodePrograms, ConformanceAlone) { expect_all("conformance", with(engine::lazy, 1)); }
TEST(VcodePrograms, ConformanceLazy) { expect_all("conformance", with(engine::lazy, 2)); }
TEST(VcodePrograms, ConformanceWorkers) { expect_all("conformance", with(engine::workers, 2, 3)); }
TEST(VcodePrograms, ConformanceSpmd) { expect_all("conformance", with(engine::spmd, 2)); }
TEST(VcodePrograms, ConformanceSpmdOnManyRanks) {
  expect_all("conformance", with(engine::spmd, 2, 17));
}
TEST(VcodePrograms, ConformanceStrict) {
  run_options how = with(engine::lazy, 1);
  how.strict = true;
  expect_all("conformance", how);
}

TEST(VcodePrograms, CompiledAlone) { expect_all("nesl-compiled", with(engine::lazy, 1)); }
TEST(VcodePrograms, CompiledStrict) {
  run_options how = with(engine::lazy, 1);
  how.strict = true;
  expect_all("nesl-compiled", how);
}
TEST(VcodePrograms, CompiledWorkers) { expect_all("nesl-compiled", with(engine::workers, 2, 4)); }
TEST(VcodePrograms, CompiledSpmd) { expect_all("nesl-compiled", with(engine::spmd, 2)); }
TEST(VcodePrograms, NeslsOwnTestAlone) { expect_all("nesltest", with(engine::lazy, 1)); }
TEST(VcodePrograms, NeslsOwnTestWorkers) { expect_all("nesltest", with(engine::workers, 2)); }
TEST(VcodePrograms, NeslsOwnTestSpmd) { expect_all("nesltest", with(engine::spmd, 2)); }

TEST(VcodePrograms, EveryBarrier) {
  const recorded_program sample = recorded("nesl-compiled/quickhull_small");
  for (const auto& each : algorithms) {
    run_options how;
    how.engine = engine::spmd;
    how.threads = 2;
    how.barrier = each.name;
    expect_recorded(sample, how);
    how.engine = engine::workers;
    expect_recorded(sample, how);
  }
}

TEST(VcodePrograms, ABarrierOfAProvider) {
  tutti::test::dummy_provider dummy;
  run_options how;
  how.threads = 2;
  how.barrier = "dummy";
  for (const engine each : {engine::spmd, engine::workers}) {
    how.engine = each;
    expect_recorded(recorded("nesl-compiled/quickhull_small"), how);
  }
  EXPECT_GT(dummy.arrivals(), 0u);
}

TEST(VcodePrograms, ABarrierThatDoesNotExistIsRefused) {
  run_options how;
  how.threads = 2;
  how.barrier = "nonsense";
  EXPECT_THROW(run(compile("FUNC MAIN RET"), {}, how), std::invalid_argument);
}

}  // namespace
}  // namespace tutti::vcode::test
