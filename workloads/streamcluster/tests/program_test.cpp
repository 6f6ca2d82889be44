// SPDX-License-Identifier: Apache-2.0
// Runs tutti-streamcluster as a user would and checks its lines, its errors and its exit statuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/support/json_lines.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/wrong_usage.hpp"

namespace tutti::streamcluster {
namespace {

using test::output;

const test::program command(TUTTI_TEST_STREAMCLUSTER);

// The input is small enough for many runs.
const std::string small = "--input simsmall --points 600 --dimensions 4 --k-min 4 --k-max 6 ";

class WrongUsage : public testing::TestWithParam<const char*> {};

TEST_P(WrongUsage, IsOneSentenceAndStatusTwo) {
  test::expect_wrong_usage(command, "tutti-streamcluster", GetParam());
}

INSTANTIATE_TEST_SUITE_P(Program, WrongUsage,
                         testing::Values("--nonsense", "extra", "--input", "--threads 0",
                                         "--threads 1,", "--threads x", "--ranks 0",
                                         "--threads 4 --ranks 2", "--barrier nonsense",
                                         "--barrier ''", "--threads 2 --ranks 4 --barrier pthread",
                                         "--threads 2 --ranks 4 --barrier std", "--wait nonsense",
                                         "--seed -1", "--repeat 0", "--points 0", "--dimensions 0",
                                         "--dimensions 2.5", "--k-min 0", "--k-min 21", "--k-max 0",
                                         "--chunk 20", "--limit 39", "--format nonsense",
                                         "--format npy", "--input FILE --points 3"));

TEST(Program, TellsWhatIsWrongWithAFileAndWritesNothing) {
  const test::scratch here;
  const std::string bad = here.write("bad.txt", "1 2\n3 nan\n");
  here.write("centres", "something older");
  const output error =
      command.standard_error("--input " + bad + " --output " + here.path("centres"));
  EXPECT_EQ(error.status, 1);
  EXPECT_EQ(error.text, "tutti-streamcluster: " + bad + ":2: column 2: 'nan' is not finite\n");
  EXPECT_EQ(here.read("centres"), "something older");
  EXPECT_EQ(here.files(), 2U);
}

TEST(Program, TellsBeforeTheRunThatItCannotWrite) {
  const output error = command.standard_error("--input native --output /nowhere/centres");
  EXPECT_EQ(error.status, 1);
  EXPECT_EQ(
      error.text,
      "tutti-streamcluster: /nowhere/centres: cannot be written: No such file or directory\n");
}

TEST(Program, AFifoStaysAFifoAndALinkALink) {
  const test::scratch here;
  here.write("target", "something older");
  std::filesystem::create_symlink("target", here.path("link"));
  ASSERT_EQ(command.standard_output(small + "--output " + here.path("link")).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(here.path("link")));
  EXPECT_TRUE(here.read("target").starts_with("# "));
  const std::string fifo = here.path("fifo");
  const output piped = test::run_shell(
      "mkfifo " + fifo + " && { timeout 20 cat " + fifo + " > " + here.path("piped") + " & } ; " +
      TUTTI_TEST_STREAMCLUSTER " " + small + "--output " + fifo + " && wait && test -p " + fifo);
  EXPECT_EQ(piped.status, 0);
  EXPECT_EQ(here.read("piped"), here.read("target"));
}

TEST(Program, WritesTheSameCentresForAnyThreadsRanksAndBarrier) {
  const test::scratch here;
  std::set<std::string> contents;
  for (const char* how : {"--threads 1", "--threads 3", "--threads 2 --ranks 17",
                          "--threads 2 --barrier central", "--threads 2 --barrier pthread"}) {
    EXPECT_EQ(command.standard_output(small + how + " --output " + here.path("centres")).status, 0)
        << how;
    contents.insert(here.read("centres"));
  }
  EXPECT_EQ(contents.size(), 1U);
  EXPECT_TRUE(contents.begin()->starts_with("# ")) << *contents.begin();
  EXPECT_NE(command.standard_output(small + "--seed 2 --output " + here.path("other")).text, "");
  EXPECT_NE(here.read("other"), *contents.begin());
}

TEST(Program, WritesAJsonLineForEachBarrierAndNumberOfThreads) {
  const output result = command.standard_output(
      small + "--threads 1,2 --barrier default,mcs,pthread,std --repeat 3 --json");
  EXPECT_EQ(result.status, 0);
  const auto lines = test::json_lines(result.text);
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[0]["type"], "machine");
  std::set<std::string> providers, names, fingerprints;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto& line = lines[i];
    EXPECT_EQ(line["type"], "result");
    EXPECT_EQ(line["benchmark"], "streamcluster");
    EXPECT_EQ(line["metric"], "wall");
    EXPECT_EQ(line["unit"], "ns");
    EXPECT_EQ(line["samples"], 3);
    EXPECT_GT(line["min"].get<double>(), 0);
    EXPECT_LE(line["min"].get<double>(), line["median"].get<double>());
    EXPECT_LE(line["median"].get<double>(), line["p99"].get<double>());
    EXPECT_GT(line["barriers"].get<double>(), 100);
    EXPECT_GT(line["episodes_per_second"].get<double>(), 0);
    providers.insert(line["provider"].get<std::string>());
    names.insert(line["name"].get<std::string>());
    fingerprints.insert(line["fingerprint"].get<std::string>());
  }
  EXPECT_EQ(providers, (std::set<std::string>{"tutti", "pthread", "std"}));
  EXPECT_EQ(names, (std::set<std::string>{"default", "mcs", "pthread", "std"}));
  EXPECT_EQ(fingerprints.size(), 1U);
}

TEST(Program, ShowsEveryBarrierInATable) {
  const output result = command.standard_output(small + "--threads 2 --barrier all");
  EXPECT_EQ(result.status, 0);
  for (const char* name :
       {"default", "counting", "dissemination", "tournament", "pthread", "std"}) {
    EXPECT_NE(result.text.find("\n" + std::string(name) + " "), std::string::npos) << name;
  }
}

TEST(Program, HelpAndVersionSucceed) {
  EXPECT_EQ(command.standard_output("--help").status, 0);
  EXPECT_TRUE(command.standard_output("--version").text.starts_with("tutti-streamcluster "));
}

}  // namespace
}  // namespace tutti::streamcluster
