// SPDX-License-Identifier: Apache-2.0
// Tests of the options that all programs share: their values, the sentence for a wrong command
// line, and exit statuses.
#include "cli/options.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>

#include "cli/lists.hpp"

namespace tutti::cli {
namespace {

struct outcome {
  int status;
  std::string out, err;
};

outcome run(
    program& p, std::vector<std::string> words,
    const std::function<int()>& action = [] { return 0; }) {
  std::string name = "tutti-test";
  std::vector<char*> arguments{name.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = p.run(static_cast<int>(arguments.size()), arguments.data(), action);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

struct Options : testing::Test {
  Options() {
    const option text = p.add_option("--text", text_, "A text").value_name("TEXT").show_default();
    p.add_option("--maybe", maybe, "A text").excludes(text);
    p.add_option("--count", count, "A number").between(std::uint64_t{1}, std::uint64_t{5});
    p.add_option("--share", share, "A number").between(0.5, 1.5);
    p.add_option("--kind", kind, "A kind").one_of({"one", "two"});
    p.add_option("--even", even, "A number").check([](const std::string& value) {
      return value.size() % 2 == 0 ? std::string() : "'" + value + "' is odd";
    });
    p.add_flag("--json", json, "A flag");
    p.add_option("files", files, "Files");
  }
  program p{"Tests options", "tutti-test"};
  std::string text_ = "before", kind, even;
  std::optional<std::string> maybe;
  std::uint64_t count = 3;
  double share = 1;
  bool json = false;
  std::vector<std::string> files;
};

TEST_F(Options, AreReadAndTheRestStays) {
  EXPECT_EQ(run(p, {"--maybe", "x", "--count", "5", "--share=1.5", "--json", "a", "b"}).status, 0);
  EXPECT_EQ(text_, "before");
  EXPECT_EQ(maybe, "x");
  EXPECT_EQ(count, 5u);
  EXPECT_EQ(share, 1.5);
  EXPECT_TRUE(json);
  EXPECT_EQ(files, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(p.is_given("--count"));
  EXPECT_FALSE(p.is_given("--text"));
  EXPECT_EQ(p.given().size(), 5u);
}

TEST_F(Options, KeepTheirBrackets) {
  const std::vector<std::string> words{"[a,b]", "[]", "[[c]]", "", "x=[d,e]", "\1[f]"};
  std::vector<std::string> all{"--text=[g,h]", "--"};
  all.insert(all.end(), words.begin(), words.end());
  all.emplace_back("--kind=[j]");
  EXPECT_EQ(run(p, all).status, 0);
  EXPECT_EQ(text_, "[g,h]");
  EXPECT_EQ(std::vector<std::string>(files.begin(), files.begin() + 6), words);
  EXPECT_EQ(files.back(), "--kind=[j]");
  const outcome told = run(p, {"--count", "[1]"});
  EXPECT_EQ(told.status, 2);
  EXPECT_NE(told.err.find("[1]"), std::string::npos) << told.err;
}

TEST_F(Options, AreExplained) {
  const outcome help = run(p, {"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("TEXT=before"), std::string::npos) << help.out;
  const outcome version = run(p, {"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.substr(0, 11), "tutti-test ");
}

TEST_F(Options, WrongOnesAreNamedInOneSentence) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--unknown"}, "'--unknown' is not known here"},
      {{"--count"}, "--count needs a value"},
      {{"--kind", "one", "--kind", "two"}, "--kind is given more than once"},
      {{"--count", "six"}, "six"},
      {{"--count", "6"}, "6"},
      {{"--share", "2"}, "2"},
      {{"--share", "nan"}, "nan is no number"},
      {{"--kind", "three"}, "three"},
      {{"--even", "odd"}, "'odd' is odd"},
      {{"--text", "a", "--maybe", "b"}, "--maybe"}};
  for (const auto& [words, sentence] : wrong) {
    const outcome told = run(p, words);
    EXPECT_EQ(told.status, 2);
    EXPECT_NE(told.err.find(sentence), std::string::npos) << told.err;
    EXPECT_EQ(told.err.substr(0, 12), "tutti-test: ");
    EXPECT_NE(told.err.find("; see `tutti-test --help`\n"), std::string::npos) << told.err;
    EXPECT_EQ(told.err.find('\n'), told.err.size() - 1);
  }
}

TEST_F(Options, ActionsEndInAStatus) {
  EXPECT_EQ(run(p, {}, [] { return 7; }).status, 7);
  const outcome wrong = run(p, {}, []() -> int { throw std::invalid_argument("a\nb"); });
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.err, "tutti-test: a b\n");
  EXPECT_EQ(run(p, {}, []() -> int { throw std::runtime_error("a"); }).status, 1);
  EXPECT_EQ(run(p, {}, []() -> int { throw std::bad_alloc(); }).err,
            "tutti-test: not enough memory for these data\n");
}

TEST(Subcommands, TellWhatIsMissingWhereItIs) {
  program p("Tests options", "tutti-test");
  p.require_subcommand();
  command sub = p.add_subcommand("sub", "A subcommand");
  std::string file;
  sub.add_option("file", file, "A file").required();
  std::string used;
  sub.runs([&] {
    used = file;
    return 7;
  });

  EXPECT_EQ(run(p, {}).err, "tutti-test: a subcommand is missing; see `tutti-test --help`\n");
  EXPECT_EQ(run(p, {"sup"}).err,
            "tutti-test: 'sup' is not known here: did you mean 'sub'?; see `tutti-test --help`\n");
  EXPECT_EQ(run(p, {"other"}).err,
            "tutti-test: 'other' is not known here; see `tutti-test --help`\n");
  EXPECT_EQ(run(p, {"sub"}).err,
            "tutti-test: nothing is given for file; see `tutti-test sub --help`\n");
  EXPECT_EQ(run(p, {"sub", "--"}).err,
            "tutti-test: nothing is given for file; see `tutti-test sub --help`\n");
  EXPECT_EQ(run(p, {"sub", "--", "name", "more"}).err,
            "tutti-test: 'more' is not known here; see `tutti-test sub --help`\n");
  EXPECT_EQ(run(p, {"sub", "name"}).status, 7);
  EXPECT_EQ(used, "name");
}

TEST(Subcommands, OfASubcommandAreNamedWithTheNearest) {
  program p("Tests options", "tutti-test");
  p.require_subcommand();
  command sub = p.add_subcommand("bench", "A subcommand");
  sub.require_subcommand();
  sub.add_subcommand("barrier", "One of two");
  command team = sub.add_subcommand("team", "The other");
  std::string threads;
  team.add_option("--threads", threads, "How many");

  EXPECT_EQ(run(p, {"bench", "barier"}).err,
            "tutti-test: 'barier' is not known here: did you mean 'barrier'?; see `tutti-test "
            "bench --help`\n");
  EXPECT_EQ(run(p, {"bench", "team", "--treads=2"}).err,
            "tutti-test: '--treads=2' is not known here: did you mean '--threads'?; see "
            "`tutti-test bench team --help`\n");
}

TEST(Bytes, HaveUnitsOfPowersOf1024) {
  EXPECT_EQ(parse_bytes("--memory", "4096", 0, UINT64_MAX), 4096u);
  EXPECT_EQ(parse_bytes("--memory", "512K", 0, UINT64_MAX), std::uint64_t{512} << 10);
  EXPECT_EQ(parse_bytes("--memory", "4G", 0, UINT64_MAX), std::uint64_t{4} << 30);
  EXPECT_EQ(parse_bytes("--memory", "1TiB", 0, UINT64_MAX), std::uint64_t{1} << 40);
  for (const char* wrong : {"", "G", "4X", "-1G", "4 G", "1.5G", "99999999999T", "1K"})
    EXPECT_THROW(parse_bytes("--memory", wrong, 4096, UINT64_MAX), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace tutti::cli
