// SPDX-License-Identifier: Apache-2.0
// Tests `tutti vcode` as a user runs it: what it prints, on which stream, and its exit statuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/run_program.hpp"
#include "tests/support/scratch.hpp"

namespace {

using tutti::test::output;

class VcodeCommand : public testing::Test {
 protected:
  std::string file(const std::string& text) { return scratch_.write("program.vcode", text); }
  static output out(const std::string& arguments) {
    return tutti::test::program(TUTTI_TEST_COMMAND).standard_output("vcode " + arguments);
  }
  std::string input(const std::string& text) { return scratch_.write("input", text); }
  // Returns the path of a file beside the program.
  std::string path(const std::string& name) const { return scratch_.path(name); }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static output error(const std::string& arguments) {
    return tutti::test::program(TUTTI_TEST_COMMAND).standard_error("vcode " + arguments);
  }

 private:
  const tutti::test::scratch scratch_;
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

TEST_F(VcodeCommand, TellsWhyAFileCannotBeOpened) {
  for (const auto& [name, reason] : {std::pair{path("none.vcode"), "No such file or directory"},
                                     std::pair{path("."), "Is a directory"}}) {
    const output e = error(name);
    EXPECT_EQ(e.status, 2);
    EXPECT_EQ(e.text, "tutti: " + name + ": cannot be opened: " + reason + "\n");
  }
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
        f + " --most-instructions x", f + " --most-seconds -1", f + " --nonsense", f + " extra"}) {
    const output e = error(arguments);
    EXPECT_EQ(e.status, 2) << arguments;
    EXPECT_TRUE(e.text.starts_with("tutti: ")) << e.text;
    EXPECT_EQ(std::count(e.text.begin(), e.text.end(), '\n'), 1) << e.text;
  }
}

TEST_F(VcodeCommand, OutputThatIsLostIsAnError) {
  for (const char* count : {"10", "4000", "100000"}) {
    const std::string f =
        file("FUNC MAIN CONST INT 1 CONST SEGDES " + std::string(count) + " DIST INT RET");
    const output e = tutti::test::run_shell(TUTTI_TEST_COMMAND " vcode " + f + " 2>&1 >/dev/full");
    EXPECT_EQ(e.status, 1) << count;
    EXPECT_EQ(e.text, "tutti: standard output cannot be written\n");
  }
}

// The streams may have any descriptor numbers.
TEST_F(VcodeCommand, ProgramsInheritAnyStream) {
  for (const int files : {0, 92, 93, 94, 95, 96, 97, 98}) {
    const std::string f = file(
        "FUNC MAIN CONST INT " + std::to_string(files) + " CALL OPEN CONST CHAR \"" + path("made") +
        "\" CONST INT 2 FOPEN POP 2 0 CONST CHAR \"before \" COPY 1 1 FWRITE "
        "CHAR POP 2 0 CONST CHAR \"echo hello\" CONST INT STDIN COPY 1 2 "
        "CONST INT NULL_STREAM SPAWN POP 4 0 "
        // Read until the program has ended.
        "CONST CHAR \"\" CONST INT -1 COPY 1 2 FREAD_CHAR "
        "RET FUNC OPEN COPY 1 0 CONST INT 0 > INT IF CONST CHAR \"/dev/null\" "
        "CONST INT 1 FOPEN POP 3 0 CONST INT 1 - INT CALL OPEN ELSE POP 1 0 "
        "ENDIF RET");
    EXPECT_EQ(out(f).status, 0) << files;
    EXPECT_EQ(content(path("made")), "before hello\n") << files;
  }
}

TEST_F(VcodeCommand, ProgramsInheritNoOtherStream) {
  const std::string f =
      file("FUNC MAIN CONST CHAR \"" + path("made") + "\" CONST INT 2 FOPEN POP 2 0 CONST CHAR \"" +
           path("list") + "\" CONST INT 2 FOPEN POP 2 0 CONST CHAR \"ls -l /proc/self/fd\" " +
           "CONST INT STDIN COPY 1 2 CONST INT NULL_STREAM SPAWN POP 4 0 CONST CHAR \"\" " +
           "CONST INT -1 COPY 1 2 FREAD_CHAR RET");
  EXPECT_EQ(out(f).status, 0);
  const std::string list = content(path("list"));
  EXPECT_NE(list.find(path("list")), std::string::npos) << list;
  EXPECT_EQ(list.find(path("made")), std::string::npos) << list;
}

// The program closes its streams one after the other, so the test waits for a second program that
// takes a tenth of a second.
TEST_F(VcodeCommand, AnEndedProgramIsAFailedWrite) {
  const std::string wait_for_it =
      " CONST INT NULL_STREAM CONST INT NULL_STREAM CONST INT STDERR SPAWN POP 2 0 "
      "CONST CHAR \"\" CONST INT -1 COPY 1 3 FREAD_CHAR POP 4 0 ";
  const output o = out(
      file("FUNC MAIN CONST CHAR \"true\"" + wait_for_it + "CONST CHAR \"sleep 0.1\"" +
           wait_for_it + "POP 3 0 CONST CHAR \"hello\" COPY 1 1 FWRITE CHAR CPOP 1 1 POP 1 0 RET"));
  EXPECT_EQ(o.status, 0);
  EXPECT_TRUE(o.text.ends_with("( F )\n")) << o.text;
}

TEST_F(VcodeCommand, DelimitersAreBytes) {
  const output o = out(file("FUNC MAIN CONST CHAR \"\xc3\" CONST INT -1 CONST INT STDIN FREAD_CHAR "
                            "POP 2 0 RET") +
                       " <" + input("ab\xc3\" \"cd"));
  EXPECT_EQ(o.text, "( 97 98 )\n( 195 )\n");
}

TEST_F(VcodeCommand, SegmentsThatAreTooLongAreNotRead) {
  const output o =
      out(file("FUNC MAIN READ SEGDES CPOP 1 1 POP 1 0 RET") + " <" + input("[ 2147483647 1 ]"));
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.text, "[ ]\n( F )\n");
}

TEST_F(VcodeCommand, ANumberHasAtMostOneSign) {
  const auto status = [this](const std::string& type, const std::string& text) {
    const output o =
        out(file("FUNC MAIN READ " + type + " CPOP 1 1 POP 1 0 RET") + " <" + input(text));
    EXPECT_EQ(o.status, 0) << text;
    return o.text.substr(o.text.find('\n') + 1);
  };
  EXPECT_EQ(status("INT", "( +5 -5 5 )"), "( T )\n");
  EXPECT_EQ(status("SEGDES", "[ +5 ]"), "( T )\n");
  EXPECT_EQ(status("FLOAT", "( +5.0 -5.0 5 )"), "( T )\n");
  for (const std::string sign : {"+-", "-+", "++", "--"}) {
    EXPECT_EQ(status("INT", "( " + sign + "5 )"), "( F )\n") << sign;
    EXPECT_EQ(status("SEGDES", "[ " + sign + "0 ]"), "( F )\n") << sign;
    EXPECT_EQ(status("FLOAT", "( " + sign + "5.0 )"), "( F )\n") << sign;
  }
}

TEST_F(VcodeCommand, LimitsEndAProgram) {
  const std::string f = file("FUNC MAIN CALL MAIN RET");
  const output count = error(f + " --most-instructions 100000");
  EXPECT_EQ(count.status, 1);
  EXPECT_NE(count.text.find("100000 instructions"), std::string::npos) << count.text;
  const output time = error(f + " --most-seconds 0.05");
  EXPECT_EQ(time.status, 1);
  EXPECT_NE(time.text.find("0.05 seconds"), std::string::npos) << time.text;
}

TEST_F(VcodeCommand, WarnsOfConstantsThatWrap) {
  const output o = error(file("FUNC MAIN CONST INT 4294967299 CONST INT -2147483648 RET"));
  EXPECT_EQ(o.status, 0);
  EXPECT_NE(o.text.find(":1:21: 4294967299 has more than 32 bits; the INT is 3\n"),
            std::string::npos)
      << o.text;
  EXPECT_EQ(std::count(o.text.begin(), o.text.end(), '\n'), 1) << o.text;
}

TEST_F(VcodeCommand, WarnsOfMoreThreadsThanCpusInEngineSpmd) {
  const std::string f = file("FUNC MAIN RET");
  const std::string more = std::to_string(std::thread::hardware_concurrency() + 1);
  EXPECT_NE(
      error(f + " --threads " + more + " --engine spmd --most-instructions 1").text.find("slow"),
      std::string::npos);
  EXPECT_EQ(error(f + " --threads 4000").text, "");
}

TEST_F(VcodeCommand, ShowsAndForcesTheVectorUnit) {
  const std::string f = file("FUNC MAIN RET");
  EXPECT_NE(error(f + " --stats --vector-unit baseline").text.find("baseline\n"),
            std::string::npos);
  const output o = error(f + " --vector-unit nonsense");
  EXPECT_EQ(o.status, 2);
  EXPECT_TRUE(o.text.starts_with("tutti: --vector-unit: 'nonsense' is not")) << o.text;
}

// Long vectors are printed from where they are computed, at the end and by WRITE.
TEST_F(VcodeCommand, PrintsWithoutASecondCopy) {
#ifdef TUTTI_TEST_SANITIZED
  GTEST_SKIP() << "the sanitizers' shadow memory needs more address space than the limit";
#endif
  const std::string make = "FUNC MAIN CONST FLOAT 1.5 CONST SEGDES 4000000 DIST FLOAT ";
  const std::string write = " WRITE FLOAT IF POP 1 0 ELSE POP 1 0 EXIT ENDIF RET";
  for (const std::string& program : {make + "RET", make + write}) {
    const std::string f = file(program);
    const output o = tutti::test::run_shell("ulimit -v 180000; " TUTTI_TEST_COMMAND " vcode " + f +
                                            " --memory 64M --threads 1 2>&1 | wc -c");
    EXPECT_EQ(o.status, 0) << program;
    EXPECT_NE(o.text.find("84000004"), std::string::npos) << program << o.text;
  }
}

// A stream that fails in the middle of a long vector is a failed write.
TEST_F(VcodeCommand, ALongWriteThatIsLostFails) {
  const output o =
      out(file("FUNC MAIN CONST CHAR \"/dev/full\" CONST INT 2 FOPEN POP 2 0 CONST FLOAT 1.5 "
               "CONST SEGDES 100000 DIST FLOAT CPOP 1 1 FWRITE FLOAT CPOP 1 1 POP 1 0 RET"));
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.text, "( F )\n");
}

TEST_F(VcodeCommand, CountsAndTraces) {
  const std::string f = file("FUNC MAIN CONST INT 1 CONST INT 2 + INT RET");
  EXPECT_NE(error(f + " --stats").text.find("instructions"), std::string::npos);
  EXPECT_NE(error(f + " --time").text.find("time: "), std::string::npos);
  const output trace = error(f + " --trace");
  EXPECT_NE(trace.text.find("1: + INT  [2 on the stack, INT x 1 on top]"), std::string::npos)
      << trace.text;
  const output timed = error(f + " --threads 2 --trace");
  EXPECT_NE(timed.text.find(" µs  1: + INT  ["), std::string::npos) << timed.text;
}

}  // namespace
