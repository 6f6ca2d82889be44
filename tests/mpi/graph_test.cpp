// SPDX-License-Identifier: Apache-2.0
// `tutti graph` under the launchers of both MPIs: processes that have loaded only their shares
// write the file that one process with the whole graph writes, bit by bit.
#include <gtest/gtest.h>

#include <string>

#include "tests/mpi/launched.hpp"
#include "tests/support/scratch.hpp"

namespace {

using tutti::test::family;
using tutti::test::output;
using tutti::test::run_launched;
using tutti::test::run_shell;

constexpr const char* command = TUTTI_TEST_COMMAND " graph ";

class Graphs : public testing::TestWithParam<family> {
 protected:
  const tutti::test::scratch here_;
};

TEST_P(Graphs, SharesGiveTheSameBits) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string weighted = "kron:scale=9,degree=4,weights=integer";
  // One-way edges, for components.
  const std::string one_way = here_.write("g.el", "0 1\n2 1\n3 3\n5 4\n4 6\n6 5\n9 8\n");
  const std::string large = "uniform:vertices=500,degree=30";
  struct run {
    std::string call;
    bool in_shares = true;
    int processes = 3;
  };
  for (const run& each :
       {run{"pagerank " + weighted + " --iterations 8"},
        run{"pagerank " + weighted + " --iterations 8 --threads 2", true, 2},
        run{"pagerank " + weighted + " --iterations 8 --single"},
        run{"sssp " + weighted + " --mode async --partition blocks"}, run{"sssp " + weighted},
        run{"bfs " + weighted + " --source 7"}, run{"bfs " + weighted + " --mode async"},
        run{"mssp " + weighted + " --sources 200"}, run{"components " + one_way},
        run{"components " + one_way + " --mode async"},
        run{"bfs " + weighted + " --partition random", false},
        run{"pagerank " + weighted + " --iterations 8 --combine"},
        run{"pagerank " + weighted + " --iterations 8 --combine --threads 2", true, 2},
        run{"pagerank " + weighted + " --iterations 8 --combine --partition random", false},
        run{"sssp " + weighted + " --combine"},
        run{"sssp " + weighted + " --mode async --combine --threads 2", true, 2},
        run{"bfs " + weighted + " --mode async --combine"}, run{"bfs " + weighted + " --combine"},
        run{"components " + one_way + " --combine"},
        run{"components " + weighted + " --mode async --combine"},
        run{"heat " + weighted + " --iterations 5"},
        run{"heat " + one_way + " --iterations 9 --source 1,4 --threads 2", true, 2},
        run{"heat " + weighted + " --iterations 5 --mode async", false},
        run{"heat " + weighted + " --iterations 5 --partition random", false},
        run{"spiking " + weighted + " --time 60 --coupling 0.2"},
        run{"spiking " + large + " --time 60 --coupling 3 --threads 2", true, 2},
        run{"spiking " + large + " --time 60 --partition random", false},
        // Two processes share memory, and packets go to the third one.
        run{"pagerank " + weighted + " --iterations 8 --processes-per-node 2"},
        run{"sssp " + weighted + " --mode async --threads 2 --processes-per-node 1", true, 2},
        run{"components " + weighted + " --mode async --combine --processes-per-node 2"},
        run{"heat " + weighted + " --iterations 5 --processes-per-node 2"}}) {
    const std::string alone = here_.path("alone.csv"), together = here_.path("together.csv");
    ASSERT_EQ(run_shell(command + each.call + " --output " + alone + " >/dev/null 2>&1").status, 0)
        << each.call;
    const output result =
        run_launched({GetParam(), each.processes}, command + each.call + " --output " + together);
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_EQ(here_.read("together.csv"), here_.read("alone.csv")) << each.call;
    EXPECT_EQ(result.text.find("a share in each process") != std::string::npos, each.in_shares)
        << result.text;
  }
}

// The rows of all processes in the file of the first one: one column as it is, and two.
TEST_P(Graphs, WriteNumPyFilesOfShares) {
  TUTTI_SKIP_WITHOUT(GetParam());
  for (const std::string call : {"pagerank kron:scale=14,degree=3 --iterations 2",
                                 "bfs kron:scale=9,degree=4", "components kron:scale=1,degree=1"}) {
    const std::string alone = here_.path("alone.npy"), together = here_.path("together.npy");
    ASSERT_EQ(run_shell(command + call + " --output " + alone + " >/dev/null 2>&1").status, 0);
    const output result = run_launched({GetParam(), 3}, command + call + " --output " + together);
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_EQ(here_.read("together.npy"), here_.read("alone.npy")) << call;
  }
}

// What people read is that of all processes.
TEST_P(Graphs, SummariesAreOfAllProcesses) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string one_way = here_.write("g.el", "0 1\n2 1\n3 3\n5 4\n4 6\n6 5\n9 8\n");
  const auto summary = [](const std::string& text) {
    const auto begin = text.find("\"summary\"");
    return begin == text.npos ? text : text.substr(begin, text.find('}', begin) - begin);
  };
  for (const std::string& call :
       {"components " + one_way, "bfs " + one_way, "sssp " + one_way, "pagerank " + one_way,
        std::string("mssp kron:scale=7,degree=3 --sources 9"), "heat " + one_way,
        std::string("spiking kron:scale=8,degree=9 --time 50")}) {
    const output alone = run_shell(command + call + " --json 2>&1");
    const output result = run_launched({GetParam(), 3}, command + call + " --json");
    EXPECT_EQ(result.status, 0) << result.text;
    EXPECT_EQ(summary(result.text), summary(alone.text)) << call;
  }
}

// The first process writes those of all.
TEST_P(Graphs, SpikesOfSharesAreThoseOfTheWhole) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string call = "spiking uniform:vertices=600,degree=40 --time 90 --spikes ";
  ASSERT_EQ(run_shell(command + call + here_.path("alone.csv") + " >/dev/null 2>&1").status, 0);
  const output result = run_launched({GetParam(), 3}, command + call + here_.path("together.csv"));
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_NE(result.text.find("a share in each process"), std::string::npos) << result.text;
  EXPECT_EQ(here_.read("together.csv"), here_.read("alone.csv"));
  EXPECT_GT(here_.read("alone.csv").size(), 1000u);
}

// Only the process that has the edge knows of it.
TEST_P(Graphs, ACurrentOutOfRangeIsTold) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string large = here_.write("g.wel", "0 1 1\n1 2 1\n2 3 1\n3 4 1\n4 5 5000\n");
  const output result = run_launched({GetParam(), 3}, command + ("spiking " + large));
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.text.find("the edge from 4 to 5 is out of range"), std::string::npos)
      << result.text;
}

TEST_P(Graphs, AFullDiskIsToldOnce) {
  TUTTI_SKIP_WITHOUT(GetParam());
  std::filesystem::create_symlink("/dev/full", here_.path("full.csv"));
  const output result = run_launched(
      {GetParam(), 3}, command + ("bfs kron:scale=12,degree=4 --output " + here_.path("full.csv")));
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.text.find("full.csv: cannot be written"), std::string::npos) << result.text;
}

double number_after(const std::string& text, const std::string& key) {
  const auto at = text.find("\"" + key + "\":");
  return at == text.npos ? -1 : std::stod(text.substr(at + key.size() + 3));
}

TEST_P(Graphs, CombinedMessagesAreFewer) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string call = "pagerank kron:scale=10,degree=8 --iterations 3 --json";
  const output apart = run_launched({GetParam(), 3}, command + call);
  const output combined = run_launched({GetParam(), 3}, command + (call + " --combine"));
  EXPECT_LT(number_after(combined.text, "packets"), 0.9 * number_after(apart.text, "packets"));
  EXPECT_EQ(number_after(combined.text, "messages"), number_after(apart.text, "messages"));
  EXPECT_GT(number_after(combined.text, "messages_combined"),
            number_after(combined.text, "packets_combined"));
}

#ifndef TUTTI_TEST_SANITIZED
// The first process needs no memory for the results of the others.
TEST_P(Graphs, TheFirstProcessNeedsNoMoreMemory) {
  TUTTI_SKIP_WITHOUT(GetParam());
  for (const std::string app : {"pagerank", "components"}) {
    const std::string call = app + " uniform:vertices=1e6,degree=4 --partition blocks --json";
    const output result =
        run_launched({GetParam(), 4}, command + (call + " --output " + here_.path("large.csv") +
                                                 (app == "pagerank" ? " --iterations 2" : "")));
    ASSERT_EQ(result.status, 0) << result.text;
    const double first = number_after(result.text, "megabytes");
    const double other = number_after(result.text, "most_megabytes");
    EXPECT_GT(other, 20);
    EXPECT_LT(first, 1.1 * other) << app;
  }
}
#endif

TEST_P(Graphs, PrintResultLines) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string call = "bfs kron:scale=6,degree=4 --json";
  const output alone = run_shell(command + call + " 2>&1");
  EXPECT_EQ(alone.status, 0);
  EXPECT_NE(alone.text.find("\"in_shares\":false"), std::string::npos) << alone.text;
  const output result = run_launched({GetParam(), 2}, command + call);
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.text.find("\"in_shares\":true"), std::string::npos) << result.text;
}

TEST_P(Graphs, ErrorsNameFileAndLine) {
  TUTTI_SKIP_WITHOUT(GetParam());
  const std::string bad = here_.write("bad.el", "0 1\n1 2\n2 x\n");
  const output result = run_launched({GetParam(), 2}, command + ("bfs " + bad));
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.text.find(bad + ":3: a vertex must be"), std::string::npos) << result.text;
}

INSTANTIATE_TEST_SUITE_P(Families, Graphs,
                         testing::Values(tutti::test::open_mpi, tutti::test::mpich),
                         [](const auto& each) { return each.param.name; });

}  // namespace
