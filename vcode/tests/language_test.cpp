// SPDX-License-Identifier: Apache-2.0
// What the parser and the verifier accept, what they refuse, and the messages they give.
#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "vcode/language/instructions.hpp"
#include "vcode/language/program.hpp"
#include "vcode/language/real_number.hpp"
#include "vcode/language/verifier.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

std::string complaint(const std::string& text) {
  try {
    require_no_inputs(compile(text, "x"));
  } catch (const source_error& e) {
    return e.what();
  }
  return "";
}

std::string effect(const std::string& text) {
  const program code = compile(text);
  const function& entry = code.data().functions[code.data().entry];
  std::string made = to_text(entry.effect.inputs) + " ->";
  for (const auto& each : entry.effect.outputs) made += " | " + to_text(each);
  return made;
}

TEST(VcodeParser, SaysWhereAndWhatWasExpected) {
  EXPECT_EQ(complaint(""), "x:1:1: the program is empty: expected FUNC");
  EXPECT_EQ(complaint("FUNC"), "x:1:5: expected the name of a function, found the end of the file");
  EXPECT_EQ(complaint("FUNC T RET"), "x:1:6: expected the name of a function; 'T' is reserved");
  EXPECT_EQ(complaint("FUNC A\n  NOPE RET"), "x:2:3: expected an instruction or RET, found 'NOPE'");
  EXPECT_EQ(complaint("FUNC A CONST FLOAT 1 RET"),
            "x:1:20: expected a FLOAT such as 1.0 or -2.5e3, found '1'");
  EXPECT_EQ(complaint("FUNC A CONST INT (1 T) RET"), "x:1:21: expected an INT, found 'T'");
  EXPECT_EQ(complaint("FUNC A CONST INT 99999999999999999999 RET"),
            "x:1:18: 99999999999999999999 has more than 64 bits");
  EXPECT_EQ(complaint("FUNC A + RET"),
            "x:1:10: expected a type after +: INT or FLOAT, found 'RET'");
  EXPECT_EQ(complaint("FUNC A + BOOL RET"), "x:1:10: + does not take BOOL, only INT or FLOAT");
  EXPECT_EQ(complaint("FUNC A COPY 1 -1 RET"),
            "x:1:15: expected a depth from 0 to 65535, found -1");
  EXPECT_EQ(complaint("FUNC A CALL B RET"), "x:1:13: there is no function B");
  EXPECT_EQ(complaint("FUNC MAIN RET FUNC MAIN RET"), "x:1:20: function MAIN is defined twice");
  EXPECT_EQ(complaint("FUNC A { RET"), "x:1:8: this comment has no '}'");
  EXPECT_EQ(complaint("FUNC A CONST CHAR \"a RET"), "x:1:19: this string has no closing '\"'");
  EXPECT_EQ(complaint("FUNC A # RET"), "x:1:8: unexpected character '#'");
  EXPECT_EQ(complaint("FUNC A ELSE RET"), "x:1:8: this ELSE has no IF");
  EXPECT_EQ(complaint("FUNC A CONST BOOL T IF ELSE ELSE ENDIF RET"),
            "x:1:29: this IF already has an ELSE");
  EXPECT_EQ(complaint("FUNC A CONST BOOL T IF RET"), "x:1:21: this IF has no ENDIF before RET");
}

TEST(VcodeParser, ReadsOddLayouts) {
  EXPECT_EQ(complaint("{ comment }FUNC MAIN I O INT FLOAT CONST INT -5 CONST FLOAT -1.5E+3 RET"),
            "");
  EXPECT_EQ(complaint("FUNC A CALL ++_19 RET FUNC ++_19 RET"), "");
  // This is a name, not a number.
  EXPECT_EQ(complaint("FUNC A CALL 1e5 RET FUNC 1e5 RET"), "");
}

// The decimal point is '.' also where the program that calls the library has chosen a locale with a
// comma.
TEST(VcodeParser, ReadsNumbersInAnyLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "ru_RU.UTF-8"}) {
    found = found || std::setlocale(LC_ALL, name) != nullptr;
  }
  if (!found) GTEST_SKIP() << "no locale with a decimal comma is installed";
  const auto stack = run(compile("FUNC MAIN CONST FLOAT ( 1.5 -2.75e3 ) RET")).stack;
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(std::get<std::vector<double>>(stack[0]), (std::vector<double>{1.5, -2750}));
}

TEST(VcodeRealNumber, IsReadAsByStrtod) {
  const std::string zeros(400, '0');
  for (const std::string& text : {std::string("1.5"),
                                  std::string("+.5"),
                                  std::string("-1."),
                                  std::string("-0.0"),
                                  std::string("12e-3"),
                                  std::string("1.7976931348623157e308"),
                                  std::string("1e309"),
                                  std::string("-1e309"),
                                  std::string("4.9e-324"),
                                  std::string("2e-324"),
                                  std::string("-1e-400"),
                                  std::string("0e99999999999999999999"),
                                  std::string("1e99999999999999999999"),
                                  std::string("-1e-99999999999999999999"),
                                  "0." + zeros + "1e800",
                                  "0." + zeros + "1",
                                  "1" + zeros + "e-800",
                                  "1" + zeros,
                                  std::string("0x1p3"),
                                  std::string("-0X.8P-3"),
                                  std::string("0x1p1024"),
                                  std::string("0x1p-1076"),
                                  std::string("inf"),
                                  std::string("-Infinity"),
                                  std::string("nan"),
                                  std::string("-nan")}) {
    char* end = nullptr;
    const double wanted = std::strtod(text.c_str(), &end);
    EXPECT_EQ(*end, '\0') << text;
    const std::optional<double> got = read_real(text);
    ASSERT_TRUE(got.has_value()) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*got), std::bit_cast<std::uint64_t>(wanted)) << text;
  }
  for (const char* text : {"", "+", "-", ".", "+-1", "-+1", "--1", "1,5", "1e", "1.5x", "e5", "0x",
                           "0x-1", "0xinf", "0x1p", "0x1p+-1", "infinite"}) {
    EXPECT_FALSE(read_real(text).has_value()) << text;
  }
}

TEST(VcodeParser, Warns) {
  EXPECT_EQ(compile("FUNC A\r\nRET\r\n", "x").warnings(),
            std::vector<std::string>{"x:1:7: carriage returns are ignored"});
  EXPECT_EQ(
      compile("FUNC A RET FUNC B RET FUNC B RET", "x").warnings(),
      std::vector<std::string>{"x:1:28: function B is defined again; the later definition counts"});
  const std::string name(60, 'n');
  EXPECT_EQ(compile("FUNC " + name + " RET", "x").warnings().size(), 1U);
}

TEST(VcodeParser, TheFirstFunctionIsTheOneOfItsName) {
  const program code = compile("FUNC A CONST INT 1 RET FUNC B CALL A RET FUNC A CONST INT 2 RET");
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(run(code).stack.at(0)),
            std::vector<std::int32_t>{2});
}

// Each round carries an effect across one call.
TEST(VcodeVerifier, FollowsLongCycles) {
  std::string text = "FUNC MAIN CALL g1 RET\n";
  constexpr int count = 150;
  for (int i = 1; i <= count; ++i) {
    const std::string before = i == 1 ? "CONST INT 1" : "CALL g" + std::to_string(i - 1);
    text += "FUNC g" + std::to_string(i) + " CONST BOOL F IF CALL g" +
            std::to_string(i == count ? 1 : i + 1) + " ELSE " + before + " ENDIF RET\n";
  }
  EXPECT_EQ(complaint(text), "");
}

TEST(VcodeVerifier, InfersEffects) {
  EXPECT_EQ(effect("FUNC A + INT RET"), "INT INT -> | INT");
  EXPECT_EQ(effect("FUNC A CPOP 1 1 RET"), "any1 any2 -> | any2 any1");
  EXPECT_EQ(effect("FUNC A PACK FLOAT RET"), "FLOAT BOOL SEGDES -> | FLOAT SEGDES");
  EXPECT_EQ(effect("FUNC A COPY 1 0 PAIR RET"), "any1 -> | pair(any1,any1)");
  EXPECT_EQ(effect("FUNC A UNPAIR + INT RET"), "pair(INT,INT) -> | INT");
  EXPECT_EQ(effect("FUNC A COPY 1 0 IF NOT BOOL ELSE ENDIF RET"), "BOOL -> | BOOL");
}

TEST(VcodeVerifier, FollowsRecursion) {
  EXPECT_EQ(effect("FUNC L COPY 1 0 CONST INT 0 = INT IF ELSE CONST INT 1 - INT CALL L ENDIF RET"),
            "INT -> | INT");
  // Never returns.
  EXPECT_EQ(effect("FUNC A CALL B RET FUNC B CALL A RET"), " ->");
  EXPECT_EQ(effect("FUNC A CALL A CALL NEVER_TYPED RET FUNC NEVER_TYPED POP 9 0 RET"), " ->");
  EXPECT_NE(complaint("FUNC A CONST INT 1 CONST BOOL T IF CALL A ENDIF RET").find("stack"),
            std::string::npos);
}

TEST(VcodeVerifier, CodeAfterExitNeedNotFit) {
  EXPECT_EQ(
      complaint("FUNC A CONST BOOL T IF CONST INT 0 EXIT POP 1 0 CONST BOOL T ELSE CONST BOOL F "
                "ENDIF POP 1 0 RET"),
      "");
}

TEST(VcodeVerifier, PathsMayLeaveDifferentStacks) {
  EXPECT_EQ(effect("FUNC A CONST BOOL F IF CONST INT 1 ENDIF RET"), " -> | INT | ");
  // An instruction that needs the type makes it an error.
  EXPECT_EQ(complaint("FUNC A CONST BOOL F IF CONST INT 1 ELSE CONST BOOL T ENDIF NOT INT RET"),
            "x:1:60: NOT in A: operand 1 of 1 must be INT and is BOOL");
}

TEST(VcodeVerifier, Refuses) {
  EXPECT_EQ(complaint("FUNC A CONST INT 1 CONST FLOAT 1.0 + INT RET"),
            "x:1:36: + in A: operand 2 of 2 must be INT and is FLOAT");
  EXPECT_EQ(complaint("FUNC A CONST INT 1\n+ INT RET"),
            "x:2:1: + in A: takes values that are not there; the stack is empty when the program "
            "begins");
  EXPECT_EQ(complaint("FUNC A CONST INT 1 CALL B RET FUNC B SQRT RET"),
            "x:1:20: CALL in A: B takes FLOAT as value 1 from the top and finds INT");
  EXPECT_EQ(complaint("FUNC A CONST INT 1 UNPAIR RET"),
            "x:1:20: UNPAIR in A: the top of the stack must be a PAIR and is INT");
  EXPECT_EQ(complaint("FUNC A CONST INT 1 IF ENDIF RET"),
            "x:1:20: IF in A: operand 1 of 1 must be BOOL and is INT");
}

// The types of all values together have a limit too: without it these few words take gigabytes.
TEST(VcodeVerifier, RefusesManyLargePairs) {
  std::string large = "CONST INT 1";
  for (int i = 0; i < 11; ++i) large += " COPY 1 0 PAIR";
  const std::string text = "FUNC MAIN " + large;
  std::string many;
  for (int count = 1; count <= 2048; count *= 2) many += " COPY " + std::to_string(count) + " 0";
  EXPECT_EQ(complaint(text + many + "\nRET"),
            "x:2:1: RET in MAIN: the type of a nested PAIR is too large");
  EXPECT_EQ(complaint(text + " COPY 1 0 COPY 2 0 COPY 4 0 RET"), "");
  // Values without PAIRs are few enough, on every path.
  EXPECT_EQ(complaint("FUNC MAIN CONST INT 1" + many + " RET"), "");
  // Each of many calls leaves as much as one function may.
  std::string calls = "FUNC MAIN";
  for (int i = 0; i < 20; ++i) calls += " CALL G POP 128 0";
  EXPECT_NE(
      complaint(calls + " RET FUNC G " + large + many.substr(0, many.find(" COPY 128")) + " RET")
          .find("the types of all values that calls leave are too large"),
      std::string::npos);
}

// The paths that wait for the ENDIFs of open IFs have a limit together: without it deep IFs over
// many large stacks take gigabytes.
TEST(VcodeVerifier, RefusesDeepIfsOverLargeStacks) {
  const auto repeated = [](int count, const std::string& text) {
    std::string made;
    for (int i = 0; i < count; ++i) made += text;
    return made;
  };
  // Leaves 15 stacks, of this many values and up to 14 more.
  const auto stacks = [&](int values) {
    return "CONST INT 1 COPY 1 0" + repeated(values - 2, " COPY 1 0") +
           repeated(14, " CONST BOOL T IF CONST INT 1 ENDIF");
  };
  const auto nested = [&](int values, int depth) {
    return "FUNC MAIN " + stacks(values) + "\n" + repeated(depth, "CONST BOOL T IF ") +
           repeated(depth, "ENDIF ") + "RET";
  };
  // 70 times 15 stacks of 16000 values and more are more than 2^24.
  EXPECT_EQ(complaint(nested(16000, 69)), "");
  EXPECT_EQ(complaint(nested(16000, 100)),
            "x:2:1118: IF in MAIN: more than 16777216 values wait on the stacks of 70 open IFs");
  // What the first branches have left waits too.
  const auto left = [&](int depth) {
    return "FUNC MAIN\n" + repeated(depth, "CONST BOOL T IF CALL G ELSE ") +
           repeated(depth, "ENDIF ") + "RET FUNC G " + stacks(16000) + " RET";
  };
  EXPECT_EQ(complaint(left(100)),
            "x:2:1956: ELSE in MAIN: more than 16777216 values wait on the stacks of 70 open IFs");
  // Small stacks may be under thousands of IFs.
  EXPECT_EQ(complaint(nested(100, 5000)), "");
}

// A function that takes more values than a stack may have cannot run. Without a limit each of these
// words would add as many to all stacks.
TEST(VcodeVerifier, RefusesTooManyInputs) {
  EXPECT_EQ(complaint("FUNC A\nPOP 16384 0\nPOP 1 0 RET"),
            "x:3:1: POP in A: more than 16384 values on the stack");
}

TEST(VcodeVerifier, RefusesWhatGrowsWithoutEnd) {
  std::string pairs = "FUNC A CONST INT 1";
  for (int i = 0; i < 40; ++i) pairs += " COPY 1 0 PAIR";
  EXPECT_NE(complaint(pairs + " RET").find("PAIR"), std::string::npos);
  std::string copies = "FUNC A CONST INT 1";
  for (int i = 0; i < 20; ++i) copies += " COPY " + std::to_string(1 << i) + " 0";
  EXPECT_NE(complaint(copies + " RET"), "");
}

// The table alone says what an instruction takes and leaves; this test compares each entry with a
// program.
TEST(VcodeTable, EveryInstructionHasTheEffectThatItSays) {
  for (const auto& each : instructions) {
    if (each.operands.empty() || each.code == opcode::branch_if) continue;
    const std::string_view words = each.types.empty() ? std::string_view("-") : each.types;
    for (const char letter : words) {
      const kind stated = letter == '-' ? kind::none : kind_of(letter, kind::none);
      std::string wanted;
      for (const char operand : each.operands) {
        if (!wanted.empty()) wanted += ' ';
        wanted += name_of(kind_of(operand, stated));
      }
      wanted += " -> |";
      for (const char result : each.results) {
        wanted += ' ';
        wanted += name_of(kind_of(result, stated));
      }
      const std::string word = stated == kind::none ? "" : " " + std::string(name_of(stated));
      EXPECT_EQ(effect("FUNC A " + std::string(each.name) + word + " RET"), wanted) << each.name;
    }
  }
}

}  // namespace
}  // namespace tutti::vcode
