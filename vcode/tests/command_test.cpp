// SPDX-License-Identifier: Apache-2.0
// `tutti vcode` as a user runs it: what it prints, where, and its exit statuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/run_program.hpp"

namespace {

using tutti::test::output;

class VcodeCommand : public testing::Test {
 protected:
  VcodeCommand() {
    std::string name = (std::filesystem::temp_directory_path() / "vcode_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~VcodeCommand() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) {
    const std::filesystem::path path = folder_ / "program.vcode";
    std::ofstream(path) << text;
    return path.string();
  }
  static output out(const std::string& arguments) {
    return tutti::test::standard_output_of(TUTTI_TEST_COMMAND " vcode " + arguments);
  }
  static output error(const std::string& arguments) {
    return tutti::test::standard_error_of(TUTTI_TEST_COMMAND " vcode " + arguments);
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(VcodeCommand, PrintsTheStack) {
  const std::string f = file("FUNC MAIN CONST INT (1 2) CONST BOOL T CONST FLOAT 0.5 RET");
  for (const char* options : {"", "--threads 2", "--threads 2 --engine spmd",
                              "--threads 2 --engine workers --barrier dissemination", "--check"}) {
    const output o = out(f + " " + options);
    EXPECT_EQ(o.status, 0) << options;
    EXPECT_EQ(o.text, "( 1 2 )\n( T )\n( 5.00000000000000e-01 )\n") << options;
    EXPECT_EQ(error(f + " " + options).text, "") << options;
  }
}

TEST_F(VcodeCommand, ExitPrintsNothingAndIsFine) {
  const output o = out(file("FUNC MAIN CONST INT 1 EXIT RET"));
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.text, "");
}

TEST_F(VcodeCommand, ErrorsOfProgramsAreOneSentenceAndStatusOne) {
  for (const char* text : {"FUNC MAIN", "FUNC MAIN + INT RET", "FUNC MAIN CALL B RET",
                           "FUNC MAIN CONST INT 1 CONST INT 0 / INT RET"}) {
    const std::string f = file(text);
    const output e = error(f);
    EXPECT_EQ(e.status, 1) << text;
    EXPECT_EQ(e.text.rfind("tutti: " + f + ":1:", 0), 0U) << e.text;
    EXPECT_EQ(std::count(e.text.begin(), e.text.end(), '\n'), 1) << e.text;
    EXPECT_EQ(out(f).text, "");
  }
}

TEST_F(VcodeCommand, WrongOptionsAreOneSentenceAndStatusTwo) {
  const std::string f = file("FUNC MAIN RET");
  for (const std::string& arguments :
       {std::string(), std::string("/nonexistent/x"), f + " --engine nonsense",
        f + " --barrier nonsense", f + " --threads -1", f + " --threads two", f + " --memory x",
        f + " --nonsense", f + " extra"}) {
    const output e = error(arguments);
    EXPECT_EQ(e.status, 2) << arguments;
    EXPECT_TRUE(e.text.starts_with("tutti: ")) << e.text;
    EXPECT_EQ(std::count(e.text.begin(), e.text.end(), '\n'), 1) << e.text;
  }
}

TEST_F(VcodeCommand, CountsAndTraces) {
  const std::string f = file("FUNC MAIN CONST INT 1 CONST INT 2 + INT RET");
  EXPECT_NE(error(f + " --stats").text.find("instructions"), std::string::npos);
  EXPECT_NE(error(f + " --time").text.find("time: "), std::string::npos);
  const output trace = error(f + " --trace");
  EXPECT_NE(trace.text.find("1: + INT  [2 on the stack, INT x 1 on top]"), std::string::npos)
      << trace.text;
}

}  // namespace
