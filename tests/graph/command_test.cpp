// SPDX-License-Identifier: Apache-2.0
// `tutti graph` refuses options that do not apply, in one sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/support/run_program.hpp"

namespace {

TEST(GraphCommand, RefusesWhatItHasNoUseFor) {
  const tutti::test::program command(TUTTI_TEST_COMMAND);
  const std::pair<const char*, const char*> all[] = {
      {"mssp kron:scale=4 --source 1 --sources 2", "--source, --sources: only one of them"},
      {"pagerank kron:scale=4 --source 1",
       "--source: an option of sssp, bfs, mssp, heat, not of pagerank"},
      {"heat kron:scale=4 --damping 0.5", "--damping: an option of pagerank, not of heat"},
      {"sssp kron:scale=4 --spikes x.csv", "--spikes: an option of spiking, not of sssp"},
      {"spiking kron:scale=4 --spikes x.csv --output x.csv", "--spikes, --output: the same file"},
      {"heat kron:scale=4 --combine",
       "--combine: an option of pagerank, sssp, bfs, components, not of heat"},
      {"sssp kron:scale=4 --combine --mode sequential",
       "--combine: the mode sequential sends no messages"},
      {"pagerank kron:scale=4 --combine --mode async", "--combine: in the mode async PageRank's"},
      {"pagerank kron:scale=4 --threads 1 --detector nope", "detector 'nope' is not one of"},
      {"pagerank kron:scale=4 --threads 1 --partition nope", "unknown partition method 'nope'"},
  };
  for (const auto& [arguments, sentence] : all) {
    const auto e = command.standard_error(std::string("graph ") + arguments);
    EXPECT_EQ(e.status, 2) << arguments;
    EXPECT_NE(e.text.find(std::string("tutti: ") + sentence), std::string::npos) << e.text;
    EXPECT_EQ(std::count(e.text.begin(), e.text.end(), '\n'), 1) << e.text;
  }
}

}  // namespace
