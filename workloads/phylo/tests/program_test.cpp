// SPDX-License-Identifier: Apache-2.0
// Runs tutti-phylo as a user would and checks its lines, its files and its errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/json.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/scratch.hpp"

namespace {

namespace fs = std::filesystem;

using tutti::test::output;
using tutti::test::run_shell;

class Program : public testing::Test {
 protected:
  void SetUp() override {
    write("ok.phy", "4 8\na ACGTACGT\nb ACGTACGA\nc ACGAACGA\nd TCGAACGA\n");
    write("ok.nwk", "((a:0.1,b:0.2):0.1,c:0.1,d:0.3);\n");
  }

  output standard_output(const std::string& arguments) {
    return run_shell("cd " + folder_.string() + " && " TUTTI_TEST_COMMAND " " + arguments +
                     " 2>/dev/null");
  }
  output standard_error(const std::string& arguments) {
    return run_shell("cd " + folder_.string() + " && " TUTTI_TEST_COMMAND " " + arguments +
                     " 2>&1 >/dev/null");
  }
  void write(const std::string& name, const std::string& text) { scratch_.write(name, text); }
  std::string read(const std::string& name) { return scratch_.read(name); }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  const tutti::test::scratch scratch_;
  const fs::path folder_ = scratch_.folder();
};

tutti::cli::json last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  const std::size_t begin = text.rfind('\n', end);
  return tutti::cli::json::parse(text.substr(begin + 1, end - begin));
}

TEST_F(Program, HelpAndVersionSucceed) {
  for (const char* arguments : {"--help", "--version", "evaluate --help", "optimize --help",
                                "rates --help", "simulate --help"}) {
    const output result = standard_output(arguments);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_FALSE(result.text.empty()) << arguments;
  }
}

TEST_F(Program, EvaluatesTheSameWithEveryBarrierAndTeam) {
  const std::string data = "evaluate --alignment ok.phy --tree ok.nwk --model 'JC+G4{0.5}' --json ";
  const output alone = standard_output(data);
  ASSERT_EQ(alone.status, 0);
  const auto value = last_line(alone.text).at("log_likelihood").get<double>();
  EXPECT_LT(value, 0);
  for (const char* team :
       {"--threads 2", "--threads 2 --ranks 5", "--threads 2 --barrier flags",
        "--threads 2 --barrier flags_padded --sums plain", "--threads 5 --fan 2",
        "--threads 3 --barrier dissemination --wait park", "--threads 2 --place none"}) {
    const output result = standard_output(data + team);
    ASSERT_EQ(result.status, 0) << team;
    EXPECT_EQ(last_line(result.text).at("log_likelihood").get<double>(), value) << team;
  }
}

TEST_F(Program, SimulatesEstimatesAndOptimises) {
  ASSERT_EQ(standard_output("simulate --taxa 12 --sites 300 --seed 5 --output x").status, 0);
  ASSERT_EQ(standard_output("rates --alignment x.phy --tree x.nwk --output x.rates").status, 0);
  const output result = standard_output(
      "optimize --alignment x.phy --tree x.nwk --rates-file x.rates --threads 2 --repeat 3 "
      "--output best.nwk --json");
  ASSERT_EQ(result.status, 0);
  const auto machine = tutti::cli::json::parse(result.text.substr(0, result.text.find('\n')));
  EXPECT_EQ(machine.at("type"), "machine");
  const auto line = last_line(result.text);
  EXPECT_EQ(line.at("type"), "result");
  EXPECT_EQ(line.at("benchmark"), "phylo");
  EXPECT_EQ(line.at("provider"), "tutti");
  EXPECT_EQ(line.at("name"), "default");
  EXPECT_EQ(line.at("threads"), 2);
  EXPECT_EQ(line.at("metric"), "wall");
  EXPECT_EQ(line.at("unit"), "ns");
  EXPECT_EQ(line.at("samples"), 3);
  EXPECT_EQ(line.at("values").size(), 3u);
  EXPECT_EQ(line.at("rates_by_site"), true);
  EXPECT_LE(line.at("min").get<double>(), line.at("median").get<double>());
  EXPECT_LE(line.at("median").get<double>(), line.at("max").get<double>());
  // A branch has at least one.
  EXPECT_GT(line.at("regions").get<int>(), 21);
  EXPECT_GT(line.at("regions_per_second").get<double>(), 0);
  // The file has the lengths that were found.
  const output again =
      standard_output("evaluate --alignment x.phy --tree best.nwk --rates-file x.rates --json");
  ASSERT_EQ(again.status, 0);
  const auto found = line.at("log_likelihood").get<double>();
  EXPECT_NEAR(last_line(again.text).at("log_likelihood").get<double>(), found, 1e-9 * -found);
}

TEST_F(Program, TheSameSeedGivesTheSameFiles) {
  ASSERT_EQ(standard_output("simulate --taxa 9 --patterns 50 --seed 5 --output x").status, 0);
  ASSERT_EQ(standard_output("simulate --taxa 9 --patterns 50 --seed 5 --output y").status, 0);
  EXPECT_EQ(read("x.phy"), read("y.phy"));
  EXPECT_EQ(read("x.nwk"), read("y.nwk"));
  ASSERT_EQ(standard_output("simulate --tree x.nwk --sites 50 --seed 6 --output z").status, 0);
  EXPECT_NE(read("x.phy"), read("z.phy"));
}

TEST_F(Program, AFailureLeavesFilesAsTheyWere) {
  write("best.nwk", "precious");
  write("bad.phy", "4 8\na ACGTACGT\nb ACGTACG\n");
  const auto before = files();
  EXPECT_EQ(standard_error("optimize --alignment bad.phy --tree ok.nwk --output best.nwk").status,
            1);
  EXPECT_EQ(
      standard_error("optimize --alignment ok.phy --tree ok.nwk --output no/such/folder").status,
      1);
  // A file cannot replace a folder.
  fs::create_directory(folder_ / "folder");
  EXPECT_EQ(standard_error("optimize --alignment ok.phy --tree ok.nwk --output folder").status, 1);
  fs::remove(folder_ / "folder");
  EXPECT_EQ(read("best.nwk"), "precious");
  EXPECT_EQ(files(), before);
}

// A folder and a missing folder are reported at once: the 10^6 optimisations would take minutes.
TEST_F(Program, RefusesAPlaceForItsOutputBeforeTheComputation) {
  for (const std::string place : {"no/such/folder", "."}) {
    const output error = run_shell("cd " + folder_.string() +
                                   " && timeout 20 " TUTTI_TEST_COMMAND
                                   " optimize --alignment ok.phy --tree ok.nwk --repeat 1000000"
                                   " --output " +
                                   place + " 2>&1");
    EXPECT_EQ(error.status, 1) << error.text;
    EXPECT_TRUE(error.text.starts_with("tutti-phylo: " + place + ": cannot be written: "))
        << error.text;
  }
}

TEST_F(Program, PrintsTheResultIfTheOutputCannotBeWritten) {
  // The reader of the FIFO ends before anything is written.
  const output result =
      run_shell("cd " + folder_.string() +
                " && mkfifo fifo && { timeout 20 sh -c 'true < fifo' & } ; " TUTTI_TEST_COMMAND
                " optimize --alignment ok.phy --tree ok.nwk --output fifo");
  EXPECT_NE(result.text.find("log-likelihood"), std::string::npos) << result.text;
}

TEST_F(Program, AFifoStaysAFifoAndALinkALink) {
  ASSERT_EQ(standard_output("simulate --taxa 5 --sites 20 --output x").status, 0);
  for (const std::string command :
       {"optimize --alignment ok.phy --tree ok.nwk", "rates --alignment ok.phy --tree ok.nwk"}) {
    const output piped =
        run_shell("cd " + folder_.string() +
                  " && mkfifo fifo && { timeout 20 cat fifo > piped & } ; " TUTTI_TEST_COMMAND " " +
                  command + " --output fifo > text && wait && test -p fifo && rm fifo");
    EXPECT_EQ(piped.status, 0) << command;
    write("target", "something older");
    fs::create_symlink("target", folder_ / "link");
    ASSERT_EQ(standard_output(command + " --output link").status, 0);
    EXPECT_TRUE(fs::is_symlink(folder_ / "link")) << command;
    EXPECT_EQ(read("target"), read("piped")) << command;
    EXPECT_FALSE(read("piped").empty()) << command;
    fs::remove(folder_ / "link");
  }
  const std::string tree_of_x = read("x.nwk");
  write("y.nwk", "something older");
  fs::create_symlink("y.nwk", folder_ / "z.nwk");
  ASSERT_EQ(standard_output("simulate --taxa 5 --sites 20 --output z").status, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "z.nwk"));
  EXPECT_EQ(read("y.nwk"), tree_of_x);
}

TEST_F(Program, OnlyOptimizeTakesATreeWithoutLengths) {
  write("bare.nwk", "((a:0.1,b):0.1,c:0.1,d:0.3);\n");
  write("full.nwk", "((a:0.1,b:0.7):0.1,c:0.1,d:0.3);\n");
  for (const std::string command :
       {"evaluate --alignment ok.phy", "rates --alignment ok.phy --output x",
        "simulate --sites 5 --output x"}) {
    const output error = standard_error(command + " --tree bare.nwk");
    EXPECT_EQ(error.status, 1) << command;
    EXPECT_EQ(error.text, "tutti-phylo: bare.nwk:1:9: the branch that leads here has no length\n");
  }
  const std::string command = "optimize --alignment ok.phy --repeat 1 --start tree --output ";
  ASSERT_EQ(standard_output(command + "of_bare --length 0.7 --tree bare.nwk").status, 0);
  ASSERT_EQ(standard_output(command + "of_full --tree full.nwk").status, 0);
  EXPECT_EQ(read("of_bare"), read("of_full"));
}

struct misuse {
  const char* arguments;
  int status;
  const char* must_name;
};

TEST_F(Program, EveryErrorIsOneSentence) {
  write("bad.nwk", "((a:0.1,b:0.2:0.1,c:0.1,d:0.3);\n");
  write("other.nwk", "((a:0.1,b:0.2):0.1,c:0.1,e:0.3);\n");
  write("letter.fa", ">a\nACGT\n>b\nAC@T\n>c\nACGT\n");
  write("short.fa", ">a\nACGT\n>b\nACT\n>c\nACGT\n");
  write("empty", "");
  write("seven", "1 1 1 1 1 1 1\n");
  const std::string ok = "evaluate --alignment ok.phy --tree ok.nwk ";
  const std::vector<misuse> all{
      {"", 2, "subcommand"},
      {"nonsense", 2, "nonsense"},
      {"evaluate", 2, "--alignment"},
      {"evaluate --alignment ok.phy", 2, "--tree"},
      {"evaluate --alignment none.phy --tree ok.nwk", 1, "none.phy"},
      {"evaluate --alignment . --tree ok.nwk", 1, "directory"},
      {"evaluate --alignment empty --tree ok.nwk", 1, "empty:1:"},
      {"evaluate --alignment ok.nwk --tree ok.nwk", 1, "ok.nwk:1:"},
      {"evaluate --alignment letter.fa --tree ok.nwk", 1, "letter.fa:4:3: '@'"},
      {"evaluate --alignment short.fa --tree ok.nwk", 1, "short.fa:3: 'b' has 3 sites"},
      {"evaluate --alignment ok.phy --tree bad.nwk", 1, "bad.nwk:1:14"},
      {"evaluate --alignment ok.phy --tree empty", 1, "empty:1:"},
      {"evaluate --alignment ok.phy --tree other.nwk", 1, "taxon 'e' of other.nwk"},
      {"evaluate --alignment ok.phy --tree ok.nwk --rates-file seven", 1,
       "seven:2: 7 rates for 8 sites"},
      {"evaluate --alignment ok.phy --tree ok.nwk --rates-file seven --model 'JC+G4{1}'", 1,
       "seven"},
      {"evaluate --alignment ok.phy --tree ok.nwk --model LG", 2, "--model: 'LG'"},
      {"evaluate --alignment ok.phy --tree ok.nwk --simd mmx", 2, "--simd: 'mmx'"},
      {"evaluate --alignment ok.phy --tree ok.nwk --threads -1", 2, "--threads"},
      {"evaluate --alignment ok.phy --tree ok.nwk --threads many", 2, "--threads"},
      {"evaluate --alignment ok.phy --tree ok.nwk --threads 2 --barrier nonsense", 2, "nonsense"},
      {"evaluate --alignment ok.phy --tree ok.nwk --threads 2 --fan 3", 2, "power of two"},
      {"evaluate --alignment ok.phy --tree ok.nwk --threads 2 --sums nonsense", 2, "--sums"},
      {"evaluate --alignment ok.phy --tree ok.nwk --threads 2 --barrier flags --wait nonsense", 2,
       "nonsense"},
      {"evaluate --alignment ok.phy --tree ok.nwk --place nowhere", 2, "--place"},
      {"optimize --alignment ok.phy --tree ok.nwk --repeat 0", 2, "--repeat"},
      {"optimize --alignment ok.phy --tree ok.nwk --epsilon 0", 2, "--epsilon"},
      {"optimize --alignment ok.phy --tree ok.nwk --regions none", 2, "--regions"},
      {"optimize --alignment ok.phy --tree ok.nwk --start nowhere", 2, "--start"},
      {"rates --alignment ok.phy --tree ok.nwk", 2, "--output"},
      {"rates --alignment ok.phy --tree ok.nwk --output x --categories 1", 2, "--categories"},
      {"simulate --output x", 2, "--taxa"},
      {"simulate --taxa 2 --output x", 2, "--taxa"},
      {"simulate --taxa 5 --tree ok.nwk --output x", 2, "--taxa"},
      {"simulate --taxa 5 --sites 5 --patterns 5 --output x", 2, "--patterns"},
      {"simulate --taxa 3 --patterns 500 --output x", 1, "different patterns"}};
  const auto before = files();
  for (const misuse& m : all) {
    const output error = standard_error(m.arguments);
    EXPECT_EQ(error.status, m.status) << m.arguments << '\n' << error.text;
    EXPECT_EQ(std::count(error.text.begin(), error.text.end(), '\n'), 1) << error.text;
    EXPECT_TRUE(error.text.starts_with("tutti-phylo: ")) << error.text;
    EXPECT_NE(error.text.find(m.must_name), std::string::npos) << m.arguments << '\n' << error.text;
    EXPECT_EQ(standard_output(m.arguments).text, "") << m.arguments;
  }
  EXPECT_EQ(files(), before);
}

}  // namespace
