// SPDX-License-Identifier: Apache-2.0
// Tests of the options that all programs share: their values, the sentence for a wrong command
// line, and exit statuses.
#include "cli/options.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <new>
#include <stdexcept>

#include "cli/lists.hpp"
#include "cli/progress.hpp"

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

std::string complain_of(const std::string& sentence) {
  testing::internal::CaptureStderr();
  complain("tutti-test", sentence, 1);
  return testing::internal::GetCapturedStderr();
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
  bool json = false, table = false, form = false;
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
  EXPECT_NE(help.out.find("  --text TEXT             A text (default: before; not with --maybe)\n"),
            std::string::npos)
      << help.out;
  EXPECT_NE(help.out.find("  --count N               A number (1 to 5)\n"), std::string::npos)
      << help.out;
  EXPECT_NE(help.out.find("\nUsage: tutti-test [OPTIONS] [files...]\n"), std::string::npos)
      << help.out;
  const outcome version = run(p, {"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.substr(0, 11), "tutti-test ");
}

TEST_F(Options, WrongOnesAreNamedInOneSentence) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--unknown"}, "'--unknown' is not known here"},
      {{"--count"}, "--count needs a value"},
      {{"--kind", "one", "--kind", "two"}, "--kind is given more than once"},
      {{"--count", "six"}, "--count: 'six' is not a whole number"},
      {{"--count", "6"}, "--count: '6' is not a whole number from 1 to 5"},
      {{"--count", "-1"}, "--count: '-1' is not a whole number"},
      {{"--count", "0x2"}, "--count: '0x2' is not a whole number"},
      {{"--share", "2"}, "--share: '2' is not a number from 0.5 to 1.5"},
      {{"--share", "nan"}, "--share: 'nan' is not a number"},
      {{"--kind", "ones"}, "--kind: 'ones' is not one of one, two: did you mean 'one'?"},
      {{"--text", ""}, "--text: the value is empty"},
      {{"--maybe", ""}, "--maybe: the value is empty"},
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

TEST_F(Options, NumbersAreDecimal) {
  EXPECT_EQ(run(p, {"--count", "004"}).status, 0);
  EXPECT_EQ(count, 4u);
}

TEST_F(Options, ThatMayBeRepeatedTakeOneWordEach) {
  std::vector<std::string> all;
  p.add_option("--set", all, "Settings");
  EXPECT_EQ(run(p, {"--set", "a=1", "one", "--set", "b=2", "two"}).status, 0);
  EXPECT_EQ(all, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(files, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Options, NeedOthers) {
  const option json_flag = p.add_flag("--table", table, "A flag");
  p.add_flag("--form", form, "A flag").needs(json_flag);
  EXPECT_EQ(run(p, {"--form"}).err,
            "tutti-test: --form requires --table; see `tutti-test --help`\n");
  EXPECT_EQ(run(p, {"--form", "--table"}).status, 0);
}

// What a user wrote cannot command the terminal.
TEST_F(Options, SentencesHaveNoControlCharacters) {
  const outcome told = run(p, {"--kind", "\033[31mx\177"});
  EXPECT_NE(told.err.find("--kind: '\\x1b[31mx\\x7f' is not one of"), std::string::npos)
      << told.err;
  EXPECT_EQ(complain_of("a\tb\nc\033[31m\303\244"), "tutti-test: a\\x09b c\\x1b[31m\303\244\n");
}

// The library's sentences begin with its name.
TEST_F(Options, SentencesHaveOneName) {
  const outcome told = run(p, {}, []() -> int { throw std::runtime_error("tutti: a"); });
  EXPECT_EQ(told.err, "tutti-test: a\n");
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

TEST_F(Options, AreExplainedInLinesOfTheTerminal) {
  std::string text = "alpha,beta,gamma,delta,epsilon,zeta,eta,theta,iota,kappa,lambda,mu,nu";
  std::string meaning;
  for (int i = 0; i < 40; ++i) meaning += "word ";
  p.add_option("--an-option-with-a-long-name", text, meaning).show_default();
  const std::pair<const char*, std::size_t> all[] = {
      {"50", 50}, {"93", 93}, {"1000", 100}, {"0", 80}, {"many", 80}};
  for (const auto& [columns, most] : all) {
    setenv("COLUMNS", columns, 1);
    const std::string page = run(p, {"--help"}).out;
    EXPECT_LE(longest_line(page), most) << page;
    EXPECT_GT(longest_line(page), most - 6) << page;
  }
  unsetenv("COLUMNS");
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

// The progress line does not stay on a terminal when a signal ends the program.
TEST(Progress, IsErasedBySignals) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal) | unlockpt(terminal), 0);
  const int errors = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(errors, 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(errors, STDERR_FILENO);
    progress_line line;
    while (true) {
      line.update("at work", 0.5);
      usleep(1000);
    }
  }
  close(errors);
  const auto read_until = [&](const std::string& end) {
    std::string text;
    char bytes[256];
    for (ssize_t n = 0; !text.ends_with(end) && (n = read(terminal, bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(n));
    return text;
  };
  EXPECT_TRUE(read_until("at work").ends_with("50 %  at work"));
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_TRUE(read_until("what does not come").ends_with("\r\033[K"));
  close(terminal);
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
