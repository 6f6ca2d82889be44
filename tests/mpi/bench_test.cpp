// SPDX-License-Identifier: Apache-2.0
// tutti-bench-mpi-<family> under the launcher of its MPI: what it prints, and what it refuses.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "cli/json.hpp"
#include "tests/mpi/launched.hpp"

namespace tutti::test {
namespace {

class bench_program : public testing::TestWithParam<family> {
 protected:
  void SetUp() override { TUTTI_SKIP_WITHOUT(GetParam()); }
  output bench(const std::string& arguments, int processes = 2) const {
    return run_launched({.by = GetParam(), .processes = processes},
                        TUTTI_LIBEXEC "/tutti-bench-mpi-" + GetParam().name + " " + arguments);
  }
};

TEST_P(bench_program, measures_idle_messages_and_hops_of_tutti_and_the_mpi) {
  const output said = bench("--json --rounds 2 --batch-ms 0.5");
  ASSERT_EQ(said.status, 0) << said.text;
  std::set<std::string> benchmarks, providers;
  std::istringstream lines(said.text);
  for (std::string line; std::getline(lines, line);) {
    const auto parsed = cli::json::parsed_if_valid(line);
    ASSERT_TRUE(parsed.has_value()) << line;
    if (parsed->at("type") != "result") continue;
    EXPECT_EQ(parsed->at("processes"), 2);
    EXPECT_EQ(parsed->at("mpi"), GetParam().name);
    EXPECT_GT(parsed->at("median").get<double>(), 0);
    EXPECT_EQ(parsed->at("samples"), 2) << line;
    benchmarks.insert(parsed->at("benchmark").get<std::string>());
    providers.insert(parsed->at("provider").get<std::string>());
  }
  EXPECT_EQ(benchmarks, (std::set<std::string>{"hop", "idle", "message"}));
  EXPECT_EQ(providers.count("tutti"), 1u);
  EXPECT_GE(providers.size(), 2u) << said.text;
}

TEST_P(bench_program, measures_only_what_is_asked_for) {
  const output said = bench("idle --rounds 1 --batch-ms 0.5");
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_NE(said.text.find("idle"), std::string::npos) << said.text;
  EXPECT_EQ(said.text.find("messages/s"), std::string::npos) << said.text;
}

TEST_P(bench_program, refuses_one_process) {
  const output said = bench("idle", 1);
  EXPECT_NE(said.status, 0);
  EXPECT_NE(said.text.find("at least two processes are needed"), std::string::npos) << said.text;
}

TEST_P(bench_program, refuses_what_it_does_not_measure) {
  const output said = bench("barrier");
  EXPECT_NE(said.status, 0);
  EXPECT_NE(said.text.find("'barrier' is not one of idle, message, hop"), std::string::npos)
      << said.text;
}

INSTANTIATE_TEST_SUITE_P(mpi, bench_program, testing::Values(open_mpi, mpich),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tutti::test
