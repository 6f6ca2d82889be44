// SPDX-License-Identifier: Apache-2.0
// `tutti graph` refuses options that do not apply, in one sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/run_program.hpp"
#include "tests/support/scratch.hpp"

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
       "--combine: an option of --mode sync, async, not of sequential"},
      {"sssp kron:scale=4 --ranks 4 --mode sequential", "--ranks: an option of --mode sync, async"},
      {"sssp kron:scale=4 --order lifo --mode sequential", "--order: an option of --mode sync"},
      {"sssp kron:scale=4 --partition random --mode sequential", "--partition: an option of"},
      {"sssp kron:scale=4 --detector nope --mode sequential", "--detector: an option of"},
      {"sssp kron:scale=4 --stats --mode sequential", "--stats: an option of"},
      {"sssp kron:scale=4 --timeout 1 --mode sequential", "--timeout: an option of"},
      {"mssp kron:scale=4 --block 4", "--block: an option of --mode async, not of sync"},
      {"mssp kron:scale=4 --format el", "--format: kron:scale=4 is a rule and no file"},
      {"mssp kron:scale=4 --vertices-at-most 9", "--vertices-at-most: kron:scale=4 is a rule"},
      {"mssp kron:scale=4 --vertices-at-most x", "--vertices-at-most: 'x' is not"},
      {"mssp kron:scale=4 --processes-per-node abc", "--processes-per-node: 'abc' is not"},
      {"mssp kron:scale=4 --source ''", "--source: the value is empty"},
      {"pagerank kron:scale=4 --damping 1", "--damping: '1' is not a number from 0 to less than 1"},
      {"pagernk kron:scale=4",
       "'pagernk' is not an application; there are pagerank, sssp, bfs, "
       "components, mssp, spiking, heat: did you mean 'pagerank'?"},
      {"pagernk", "'pagernk' is not an application"},
      {"pagerank rng:vertices=4",
       "rng:vertices=4: there is no such file, and no such rule for a "
       "graph: did you mean 'ring'?"},
      {"pagerank nowhere.el", "nowhere.el: there is no such file"},
      {"pagerank kron:scale=4 --output nowhere/x.csv", "--output: /"},
      {"pagerank kron:scale=4 --output x.txt", "--output: 'x.txt' ends in neither"},
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

TEST(GraphCommand, TakesAFileOfAsManyVerticesAsIsAllowed) {
  const tutti::test::program command(TUTTI_TEST_COMMAND);
  const tutti::test::scratch here;
  const std::string large = here.write("large.el", "0 268435456\n");
  const auto e = command.standard_error("graph components " + large);
  EXPECT_EQ(e.status, 1);
  EXPECT_EQ(e.text, "tutti: " + large +
                        ":1: 268435457 vertices are more than the limit of 268435456, which "
                        "vertices_at_most (tutti graph --vertices-at-most) sets\n");
  const std::string small = here.write("small.el", "0 9\n");
  const std::string run = "graph components " + small + " --vertices-at-most ";
  EXPECT_EQ(command.standard_error(run + "10").status, 0);
  EXPECT_NE(command.standard_error(run + "9").text.find(
                "small.el:1: 10 vertices are more than the limit of 9,"),
            std::string::npos);
}

// Before anything is computed.
TEST(GraphCommand, ReplacesNoOtherFileOfItsOwn) {
  const tutti::test::program command(TUTTI_TEST_COMMAND);
  const tutti::test::scratch here;
  const std::string graph = here.write("graph.csv", "0 1\n1 0\n");
  const std::string same = (here.folder() / "." / "graph.csv").string();
  std::filesystem::create_hard_link(graph, here.path("link.csv"));
  std::filesystem::create_directory(here.path("folder.csv"));
  const std::string run = "graph spiking " + graph + " --format el --time 5";
  const std::pair<std::string, std::string> all[] = {
      {" --output " + same, "--output: " + same + " is the file of the graph"},
      {" --spikes " + here.path("link.csv"), "is the file of the graph"},
      {" --output " + here.path("a.csv") + " --spikes " + here.path("./a.csv"),
       "--spikes, --output: the same file"},
      {" --output " + here.path("folder.csv"), "folder.csv is a folder"}};
  for (const auto& [options, sentence] : all) {
    const auto e = command.standard_error(run + options);
    EXPECT_EQ(e.status, 2) << options;
    EXPECT_NE(e.text.find(sentence), std::string::npos) << e.text;
  }
  EXPECT_EQ(here.read("graph.csv"), "0 1\n1 0\n");
  EXPECT_EQ(command.standard_error(run + " --output " + here.path("a.csv")).status, 0);
}

}  // namespace
