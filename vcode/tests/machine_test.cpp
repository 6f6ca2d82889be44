// SPDX-License-Identifier: Apache-2.0
// Tests the library as a caller uses it: values in, values out, errors, streams, limits.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>

#include "tests/support/scratch.hpp"
#include "tutti/team/team.hpp"
#include "vcode/io/file_table.hpp"
#include "vcode/io/written_text.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

using integers = std::vector<std::int32_t>;
using reals = std::vector<double>;
using flags = std::vector<std::uint8_t>;

std::vector<vector_value> result_of(const std::string& body, std::vector<vector_value> inputs = {},
                                    const run_options& how = {}) {
  return run(compile("FUNC MAIN " + body + " RET", "x"), std::move(inputs), how).stack;
}

std::string complaint(const std::string& body, std::vector<vector_value> inputs = {},
                      const run_options& how = {}) {
  try {
    result_of(body, std::move(inputs), how);
  } catch (const run_error& e) {
    return e.what();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(VcodeRun, TakesInputsAndGivesResults) {
  const auto stack = result_of("+_REDUCE INT", {integers{1, 2, 3, 4}, segments{{3, 0, 1}}});
  ASSERT_EQ(stack.size(), 1U);
  EXPECT_EQ(std::get<integers>(stack[0]), (integers{6, 0, 4}));
  const auto packed = result_of("PACK FLOAT", {reals{1.5, 2.5}, flags{0, 7}, segments{{2}}});
  EXPECT_EQ(std::get<reals>(packed[0]), reals{2.5});
  EXPECT_EQ(std::get<segments>(packed[1]), segments{{1}});
}

TEST(VcodeRun, RefusesInputsThatDoNotFit) {
  EXPECT_EQ(complaint("+ INT", {integers{1}}), "tutti: MAIN takes INT INT and is given INT");
  EXPECT_EQ(complaint("+ INT", {integers{1}, reals{1}}),
            "tutti: MAIN takes INT INT and is given INT FLOAT");
  EXPECT_EQ(complaint("", {integers{1}}), "tutti: MAIN takes nothing and is given INT");
  EXPECT_NE(complaint("POP 1 0", {segments{{-1}}}).find("segment 0 has the length -1"),
            std::string::npos);
}

TEST(VcodeRun, RefusesAPairThatIsANullPointer) {
  auto outer = std::make_shared<pair>();
  outer->second = std::shared_ptr<pair>();
  for (const vector_value& each : {vector_value(std::shared_ptr<pair>()), vector_value(outer)}) {
    EXPECT_EQ(complaint("POP 1 0", {each}), "tutti: a PAIR is a null pointer");
    EXPECT_THROW(to_text(each), std::invalid_argument);
  }
}

// Runs a program that never ends, by every engine, and expects that it fails with this sentence.
void expect_limit(run_options how, const char* sentence) {
  const program forever = compile("FUNC MAIN CALL AGAIN RET FUNC AGAIN CALL AGAIN RET", "x");
  how.threads = 2;
  for (const engine e : {engine::lazy, engine::workers, engine::spmd}) {
    how.engine = e;
    try {
      run(forever, {}, how);
      ADD_FAILURE() << "no limit";
    } catch (const run_error& error) {
      EXPECT_STREQ(error.what(), sentence);
    }
  }
}

TEST(VcodeRun, HasALimitOfInstructions) {
  run_options how;
  how.most_instructions = 1000;
  expect_limit(
      how,
      "x:1:37: CALL in AGAIN: the run has executed 1000 instructions, as many as its limit "
      "allows");
  how.most_instructions = 3;
  EXPECT_EQ(complaint("CONST INT 1 POP 1 0", {}, how), "");
  how.most_instructions = 2;
  EXPECT_NE(complaint("CONST INT 1 POP 1 0", {}, how), "");
}

TEST(VcodeRun, HasALimitOfTime) {
  run_options how;
  how.most_seconds = 0.02;
  expect_limit(
      how, "x:1:37: CALL in AGAIN: the run has taken 0.02 seconds, as long as its limit allows");
}

TEST(VcodeRun, PrintsTheStackInsteadOfReturningIt) {
  std::FILE* const to = std::tmpfile();
  ASSERT_NE(to, nullptr);
  run_options how;
  how.result = to;
  const auto stack = result_of(
      "CONST INT 7 CONST SEGDES 3 DIST INT CONST INT (1 0 2) MAKE_SEGDES CONST BOOL (T F) "
      "CONST FLOAT (1.5 -0.0) CONST INT 1 CONST BOOL T PAIR",
      {}, how);
  EXPECT_TRUE(stack.empty());
  std::rewind(to);
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), to));
  std::fclose(to);
  EXPECT_EQ(text,
            "( 7 7 7 )\n[ 1 0 2 ]\n( T F )\n( 1.50000000000000e+00 -0.00000000000000e+00 )\n"
            "pair(Int,Bool) \n");
}

TEST(VcodeRun, PrintsNumbersAsPrintfDoes) {
  for (const double x : {0.0, -1.0, 1e300, 4.9e-324, 0.1, 123456789.123456789, 9.9999999999999995e9,
                         std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(), 0.5, 2.5e-5, 1.0 / 3}) {
    char wanted[40];
    std::snprintf(wanted, sizeof wanted, "( %.14e )\n", x);
    EXPECT_EQ(to_text(reals{x}), wanted);
  }
}

// Each vector unit computes the same bits.
TEST(VcodeRun, UsesTheVectorUnitThatIsAskedFor) {
  const std::string widest = vector_unit();
  const std::vector<std::string> units = vector_units();
  ASSERT_FALSE(units.empty());
  EXPECT_EQ(units.front(), widest);
  EXPECT_EQ(units.back(), "baseline");
  std::vector<vector_value> wanted;
  for (const auto& unit : units) {
    force_vector_unit(unit);
    EXPECT_EQ(vector_unit(), unit);
    const auto got = result_of(
        "CONST INT 1 CONST INT 3 CONST SEGDES 70001 INDEX COPY 1 0 I_TO_F SQRT COPY 1 1 CONST INT "
        "7 "
        "CONST SEGDES 70001 DIST INT % CONST INT 3 CONST SEGDES 70001 DIST INT < INT COPY 1 1 "
        "COPY 1 1 CONST SEGDES 70001 PACK FLOAT +_SCAN FLOAT");
    if (wanted.empty()) wanted = got;
    EXPECT_EQ(got, wanted) << unit;
  }
  EXPECT_THROW(force_vector_unit("nonsense"), std::invalid_argument);
  force_vector_unit(widest);
}

TEST(VcodeRun, NamesInstructionAndFunction) {
  EXPECT_EQ(complaint("CONST INT (1 2)\nCONST INT (1 2 3)\n+ INT"),
            "x:3:1: + in MAIN: operand 1 has length 2, operand 2 has length 3");
  EXPECT_EQ(complaint("CONST INT 1 CONST INT 0 / INT"), "x:1:35: / in MAIN: division by zero");
  EXPECT_EQ(complaint("CONST INT (1 2 3) CONST INT (1 5 0) %"),
            "x:1:47: % in MAIN: division by zero: element 2 of the divisor");
  EXPECT_EQ(complaint("CONST INT (1 2) CONST INT 3 MAKE_SEGDES +_SCAN INT"),
            "x:1:51: +_SCAN in MAIN: the vector has length 2, the segments together has length 3");
  EXPECT_EQ(complaint("CONST INT -1 MAKE_SEGDES"),
            "x:1:24: MAKE_SEGDES in MAIN: segment 0 has the length -1");
  EXPECT_EQ(
      complaint("CONST INT (2000000000 2000000000) MAKE_SEGDES"),
      "x:1:45: MAKE_SEGDES in MAIN: the segments have 4000000000 elements together: more than "
      "an INT can count");
  EXPECT_EQ(complaint("CONST BOOL () IF ENDIF"),
            "x:1:25: IF in MAIN: the flag has length 0, not 1");
  EXPECT_EQ(complaint("CONST INT 0 RAND"),
            "x:1:23: RAND in MAIN: division by zero: element 0 is 0");
}

TEST(VcodeRun, ChecksEveryIndex) {
  const std::string one = " CONST INT 3 MAKE_SEGDES ";
  const std::string source = "CONST INT (7 8 9) ";
  const std::string outside = "index 3 (element 1) is outside of segment 0, whose length is 3";
  EXPECT_EQ(complaint(source + "CONST INT (0 3 1)" + one + "PERMUTE INT"),
            "x:1:71: PERMUTE in MAIN: " + outside);
  EXPECT_EQ(complaint(source + "CONST INT (0 3 1)" + one + one + "BPERMUTE INT"),
            "x:1:96: BPERMUTE in MAIN: " + outside);
  EXPECT_EQ(complaint(source + "CONST INT (0 3 1) " + source + one + one + "DPERMUTE INT"),
            "x:1:115: DPERMUTE in MAIN: " + outside);
  EXPECT_EQ(complaint(source + "CONST INT -1" + one + "EXTRACT INT"),
            "x:1:66: EXTRACT in MAIN: index -1 is outside of segment 0, whose length is 3");
  EXPECT_EQ(complaint(source + "CONST INT 3 CONST INT 0" + one + "REPLACE INT"),
            "x:1:77: REPLACE in MAIN: index 3 is outside of segment 0, whose length is 3");
  // An index whose flag is F is not checked.
  EXPECT_EQ(
      complaint(source + "CONST INT (0 99 1) CONST BOOL (T F T)" + one + one + "BFPERMUTE INT"),
      "");
}

// The fuzzer found that the depth of a POP of no values was read below the stack.
TEST(VcodeRun, MovesNothingFromAnyDepth) {
  for (const char* name : {"COPY", "POP", "CPOP"}) {
    const auto stack = result_of(std::string("CONST INT 4 CONST INT 5 ") + name + " 0 60000");
    ASSERT_EQ(stack.size(), 2U) << name;
    EXPECT_EQ(std::get<integers>(stack[0]), integers{4}) << name;
    EXPECT_EQ(std::get<integers>(stack[1]), integers{5}) << name;
  }
  EXPECT_THROW(require_no_inputs(compile("FUNC MAIN CONST INT 4 POP 1 1 RET")), source_error);
}

TEST(VcodeRun, ChecksMoreWhenAsked) {
  run_options check;
  check.check = true;
  const std::string twice =
      "CONST INT (7 8 9) CONST INT (0 0 1) CONST INT 3 MAKE_SEGDES PERMUTE INT";
  EXPECT_EQ(complaint(twice), "");
  EXPECT_EQ(complaint(twice, {}, check),
            "x:1:71: PERMUTE in MAIN: not a permutation: index 0 (element 1) is there twice");
  EXPECT_EQ(complaint("CONST BOOL (T F) IF ENDIF"), "");
  EXPECT_EQ(complaint("CONST BOOL (T F) IF ENDIF", {}, check),
            "x:1:28: IF in MAIN: the flag has length 2, not 1");
}

TEST(VcodeRun, SaysThatTheMemoryIsFull) {
  const std::string body = "CONST INT 0 CONST INT 1 CONST INT 1000000 MAKE_SEGDES INDEX";
  run_options how;
  how.memory = 1 << 20;
  // Deferred vectors take memory only when they are needed: here, when the caller reads the result.
  EXPECT_EQ(complaint(body, {}, how),
            "x:1:71: RET in MAIN: the memory for vectors, 1048576 bytes, is full: 4000000 more do "
            "not fit");
  how.engine = engine::workers;
  EXPECT_EQ(
      complaint(body, {}, how),
      "x:1:65: INDEX in MAIN: the memory for vectors, 1048576 bytes, is full: 4000000 more do "
      "not fit");
}

// The caller also computes the parts of pairs and descriptors, and a timer computes everything.
TEST(VcodeRun, NamesThePlaceOfWhatIsComputedLate) {
  run_options how;
  how.memory = 1 << 16;
  const std::string full = "the memory for vectors, 65536 bytes, is full: 4000000 more do not fit";
  const std::string made = "CONST INT 1\nCONST SEGDES 1000000 DIST INT\n";
  EXPECT_EQ(complaint(made + "MAKE_SEGDES\n", {}, how), "x:4:2: RET in MAIN: " + full);
  EXPECT_EQ(complaint(made + "CONST INT 1 PAIR\n", {}, how), "x:4:2: RET in MAIN: " + full);
  EXPECT_EQ(complaint(made + "START_TIMER\nPOP 1 0", {}, how),
            "x:3:1: START_TIMER in MAIN: " + full);
}

TEST(VcodeRun, ADescriptorHasAnOffsetMoreThanSegments) {
  EXPECT_EQ(complaint("CONST INT 0 CONST SEGDES 2147483647 DIST INT MAKE_SEGDES"),
            "x:1:56: MAKE_SEGDES in MAIN: a descriptor has at most 2147483646 segments");
}

TEST(VcodeRun, ReusesMemoryForever) {
  run_options how;
  how.memory = 1 << 20;
  // 200 vectors of changing lengths, 60 kB each: together far more than the arena holds.
  const std::string loop =
      "FUNC MAIN CONST INT 200 CALL LOOP RET FUNC LOOP COPY 1 0 CONST INT 0 = INT IF ELSE "
      "COPY 1 0 CONST INT 1 CONST INT 15000 COPY 1 3 + INT MAKE_SEGDES INDEX COPY 1 0 * INT POP 1 "
      "0 "
      "CONST INT 1 - INT CALL LOOP ENDIF RET";
  EXPECT_EQ(std::get<integers>(run(compile(loop), {}, how).stack[0]), integers{0});
}

TEST(VcodeRun, EndlessRecursionEnds) {
  EXPECT_THROW(run(compile("FUNC A CALL A CONST INT 1 RET")), run_error);
  run_options how;
  how.memory = 1 << 20;
  EXPECT_THROW(run(compile("FUNC A CONST INT 1 CALL A RET"), {}, how), run_error);
}

// The time to prepare a program grows with its length, not with the square of it.
TEST(VcodeRun, LongChainsOfBranchesAreNoWork) {
  constexpr int branches = 100'000;
  std::string text = "FUNC MAIN";
  for (int i = 0; i < branches; ++i) text += " CONST BOOL F IF CALL G ELSE";
  for (int i = 0; i < branches; ++i) text += " ENDIF";
  const program code = compile(text + " RET FUNC G RET");
  const std::clock_t began = std::clock();
  EXPECT_TRUE(run(code).stack.empty());
  EXPECT_LT(std::clock() - began, 2 * CLOCKS_PER_SEC);
}

// Headers of vectors and both stacks need memory too, in every rank of engine spmd.
TEST(VcodeRun, ALimitOfMemoryBoundsARecursion) {
  const auto complaint_of = [](const char* program, run_options how) {
    try {
      run(compile(program, "x"), {}, how);
    } catch (const run_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  // Half of the vectors is deferred: they have headers and no elements.
  const char* const deferred =
      "FUNC MAIN CALL G RET FUNC G CONST INT 1 CONST SEGDES 5000 DIST INT CALL G RET";
  const char* const pairs = "FUNC MAIN CALL G RET FUNC G CONST INT 1 CONST INT 1 PAIR CALL G RET";
  const std::string full = "the memory for vectors, 1048576 bytes, is full: ";
  run_options how;
  how.memory = 1 << 20;
  EXPECT_EQ(complaint_of(pairs, how), "x:1:53: PAIR in G: " + full + "128 more do not fit");
  // Without the limit of instructions a run that does not count headers would take long to fail.
  how.most_instructions = 100'000;
  EXPECT_EQ(complaint_of(deferred, how), "x:1:59: DIST in G: " + full + "88 more do not fit");
  EXPECT_EQ(complaint_of(pairs, how), "x:1:53: PAIR in G: " + full + "128 more do not fit");
  how.engine = engine::spmd;
  how.threads = 2;
  EXPECT_EQ(complaint_of(pairs, how), "x:1:53: PAIR in G: " + full + "128 more do not fit");

  // A million values and calls fit into the smallest stacks, twenty million do not.
  how.engine = engine::lazy;
  how.most_instructions = 20'000'000;
  EXPECT_EQ(complaint_of("FUNC MAIN CALL G RET FUNC G CALL G CONST INT 1 POP 1 0 RET", how),
            "x:1:29: CALL in G: the recursion is too deep");
  EXPECT_EQ(complaint_of("FUNC MAIN CALL G RET FUNC G CONST INT 1 CALL G RET", how),
            "x:1:41: CALL in G: the recursion leaves too many values on the stack");
}

// Short segments of one length are reduced several at a time, from left to right like all others.
TEST(VcodeRun, SegmentsOfOneLengthAreReducedFromTheLeft) {
  const std::string widest = vector_unit();
  for (std::int32_t length = 1; length <= 10; ++length) {
    // Eight of one length, then some of others, and fewer than eight at the end.
    integers lengths(41, length);
    for (const std::size_t other : {8U, 17U, 18U, 26U}) lengths[other] = length - 1;
    reals data, sums, maxima;
    for (const std::int32_t each : lengths) {
      double sum = 0, most = -static_cast<double>(1e36F);
      for (std::int32_t k = 0; k < each; ++k) {
        const auto i = static_cast<double>(data.size());
        data.push_back(k % 3 == 1 ? -0.0 : (i * i - 500) / 7);
        sum += data.back();
        most = most > data.back() ? most : data.back();
      }
      sums.push_back(sum);
      maxima.push_back(most);
    }
    const std::vector<vector_value> inputs{data, segments{lengths}};
    for (const auto& unit : vector_units()) {
      force_vector_unit(unit);
      EXPECT_EQ(result_of("+_REDUCE FLOAT", inputs), std::vector<vector_value>{sums})
          << unit << ", length " << length;
      EXPECT_EQ(result_of("MAX_REDUCE FLOAT", inputs), std::vector<vector_value>{maxima})
          << unit << ", length " << length;
    }
  }
  force_vector_unit(widest);
}

// With NaN and zeros of both signs a maximum depends on the order. The order is always the same,
// and from left to right if strict.
TEST(VcodeRun, MaximaHaveAnOrderToo) {
  reals data(100'000, 1.0);
  for (std::size_t i = 0; i < 16; ++i) data[i] = 5;
  data[16] = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 60'000; i < data.size(); ++i) data[i] = i % 3 == 0 ? -0.0 : 0.0;
  const std::vector<vector_value> inputs{data, segments{{100'000}}};
  for (const char* body : {"MAX_SCAN FLOAT", "MIN_SCAN FLOAT", "MAX_REDUCE FLOAT"}) {
    for (const bool strict : {false, true}) {
      run_options how;
      how.strict = strict;
      const auto bits = [&] {
        const auto stack = result_of(body, inputs, how);
        std::vector<std::uint64_t> made;
        for (const double each : std::get<reals>(stack[0])) {
          made.push_back(std::bit_cast<std::uint64_t>(each));
        }
        return made;
      };
      const auto wanted = bits();
      for (const unsigned threads : {2U, 3U, 5U}) {
        how.threads = threads;
        for (const engine each : {engine::lazy, engine::workers, engine::spmd}) {
          how.engine = each;
          EXPECT_EQ(bits(), wanted) << body << " with " << threads << " threads";
        }
      }
    }
  }
  run_options strict;
  strict.strict = true;
  strict.threads = 2;
  // 5 > NaN is false, so the maximum is NaN; NaN > 1 is false, so it becomes 1.
  EXPECT_EQ(std::get<reals>(result_of("MAX_SCAN FLOAT", inputs, strict)[0])[50'000], 1.0);
}

TEST(VcodeRun, AMaximumIsAtLeastAndAMinimumAtMostTheResultForNoElement) {
  const double most = 1e36F;
  for (const std::string name : {"REDUCE", "SCAN"}) {
    const std::string of = " CONST SEGDES 2 ";
    const auto maximum =
        result_of("CONST FLOAT (-1.0e300 -1.0e301)" + of + "MAX_" + name + " FLOAT");
    EXPECT_EQ(std::get<reals>(maximum[0]), reals(name == "SCAN" ? 2 : 1, -most));
    const auto minimum = result_of("CONST FLOAT (1.0e300 1.0e301)" + of + "MIN_" + name + " FLOAT");
    EXPECT_EQ(std::get<reals>(minimum[0]), reals(name == "SCAN" ? 2 : 1, most));
  }
}

TEST(VcodeRun, RankOrdersZerosAndNanByTheirBits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<vector_value> inputs{
      reals{0.0, std::copysign(nan, 1.0), -0.0, -infinity, std::copysign(nan, -1.0), infinity, 0.0},
      segments{{7}}};
  EXPECT_EQ(std::get<integers>(result_of("RANK_UP FLOAT", inputs)[0]),
            (integers{3, 6, 2, 1, 0, 5, 4}));
  EXPECT_EQ(std::get<integers>(result_of("RANK_DOWN FLOAT", inputs)[0]),
            (integers{2, 0, 4, 5, 6, 1, 3}));
}

TEST(VcodeRun, ExitLeavesNothing) {
  const run_result r = run(compile("FUNC A CONST INT 1 EXIT RET"));
  EXPECT_TRUE(r.exited);
  EXPECT_TRUE(r.stack.empty());
}

TEST(VcodeRun, IntegersWrapAndConversionsAreDefined) {
  const auto one = [](const std::string& body) {
    return std::get<integers>(result_of(body)[0])[0];
  };
  EXPECT_EQ(one("CONST INT 2147483647 CONST INT 1 + INT"), INT32_MIN);
  EXPECT_EQ(one("CONST INT -2147483648 CONST INT -1 / INT"), INT32_MIN);
  EXPECT_EQ(one("CONST INT -2147483648 CONST INT -1 %"), 0);
  EXPECT_EQ(one("CONST INT 1 CONST INT 33 LSHIFT"), 2);
  EXPECT_EQ(one("CONST FLOAT 1.0e10 TRUNC"), INT32_MIN);
  EXPECT_EQ(one("CONST FLOAT -0.9 TRUNC"), 0);
}

// Quotients of all kinds of INTs, computed through doubles, are exact.
TEST(VcodeRun, DividesAsIntegersDo) {
  integers a, b, quotients, remainders;
  std::srand(7);
  for (int i = 0; i < 20000; ++i) {
    const auto draw = [&] {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(std::rand()) * 2654435761U >>
                                       (std::rand() % 32));
    };
    a.push_back(i % 7 == 0 ? INT32_MIN + i : draw());
    b.push_back(std::max(1, draw()) * (i % 2 == 0 ? 1 : -1));
    quotients.push_back(a.back() / b.back());
    remainders.push_back(a.back() % b.back());
  }
  EXPECT_EQ(std::get<integers>(result_of("/ INT", {a, b})[0]), quotients);
  EXPECT_EQ(std::get<integers>(result_of("%", {a, b})[0]), remainders);
}

// The fibers of ranks that share a thread have small stacks.
TEST(VcodeRun, DeepPairsFitOnTheStackOfAFiber) {
  constexpr int levels = 2000;
  std::string body = "CONST INT 1";
  std::string text = "Int";
  for (int i = 0; i < levels; ++i) {
    body += " CONST INT 1 PAIR";
    text = "pair(" + text + ",Int)";
  }
  run_options how;
  how.engine = engine::spmd;
  how.ranks = 4;
  vector_value made = result_of(body, {}, how).at(0);
  EXPECT_EQ(to_text(made), text + " \n");
  const auto given = result_of("COPY 1 0 POP 1 0", {made}, how);
  EXPECT_EQ(to_text(given.at(0)), text + " \n");

  const written_text printed;
  how.result = printed.stream();
  result_of(body, {}, how);
  EXPECT_EQ(printed.text(), text + " \n");

  // Nor does the destructor of one that is nested deeper than any program can leave.
  for (int i = 0; i < 1'000'000; ++i) {
    auto outer = std::make_shared<pair>();
    (i % 2 == 0 ? outer->first : outer->second) = std::move(made);
    made = std::move(outer);
  }
  // Nor does what compares it with the types of inputs, and names its type.
  const std::string said = complaint("+ INT", {integers{1}, made});
  EXPECT_EQ(said.substr(0, 55), "tutti: MAIN takes INT INT and is given INT pair(INT,pai");
  EXPECT_EQ(complaint("UNPAIR POP 2 0", {made}), "");
}

// Calls on the fiber of a virtual rank compile programs whose types are as deep as may be.
TEST(VcodeRun, CompilesDeepPairsOnTheStackOfAFiber) {
  std::string body = "CONST INT 1";
  for (int i = 0; i < 2000; ++i) body += " CONST INT 1 PAIR";
  const std::string text = "FUNC MAIN CALL G UNPAIR POP 2 0 RET FUNC G " + body + " RET";
  tutti::team small({.threads = 1, .ranks = 2, .fibers = {.stack_bytes = 64 * 1024}});
  std::string inputs = "none";
  small.run([&](tutti::member& me) {
    if (me.rank() == 0) inputs = compile(text).inputs();
  });
  EXPECT_EQ(inputs, "");
}

// A program that starts many others does not collect processes that have ended.
TEST(VcodeStreams, SpawnWaitsForWhatHasEnded) {
  const std::int32_t streams[3] = {0, 1, 2};
  file_table files(stdin, stdout, stderr);
  ASSERT_EQ(files.spawn("true", streams).error, "");
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(files.spawn("true", streams).error, "");
  EXPECT_EQ(waitpid(ended.si_pid, nullptr, WNOHANG), -1);
}

TEST(VcodeStreams, SpawnTakesOneNumberForNoStream) {
  const std::string start = "CONST CHAR \"true\" CONST INT 0 CONST INT ";
  for (const char* const other : {"-2", "-2147483648", "77"}) {
    const auto stack = result_of(start + other + " CONST INT 2 SPAWN");
    EXPECT_EQ(std::get<flags>(stack.at(4)), flags{0}) << other;
  }
  EXPECT_EQ(std::get<flags>(result_of(start + "-1 CONST INT 2 SPAWN").at(4)), flags{1});
}

// An input of any length must not take more memory than the vector may.
TEST(VcodeStreams, ReadersStopWhereTheMemoryEnds) {
  const auto complaint_about = [](const std::string& text, const std::string& body) {
    const test::scratch files;
    std::FILE* const input = std::fopen(files.write("input", text).c_str(), "r");
    run_options how;
    how.memory = 1 << 20;
    how.input = input;
    const std::string got = complaint(body, {}, how);
    how.engine = engine::spmd;
    how.threads = 2;
    std::rewind(input);
    EXPECT_EQ(complaint(body, {}, how), got);
    std::fclose(input);
    return got;
  };
  const std::string full =
      " in MAIN: the memory for vectors, 1048576 bytes, is full: the input has more than ";
  const std::string many(400'000, 'x');
  std::string numbers = "( ";
  for (int i = 0; i < 300'000; ++i) numbers += "7 ";
  EXPECT_EQ(complaint_about(many, "CONST CHAR \"y\" CONST INT -1 CONST INT 0 FREAD_CHAR"),
            "x:1:51: FREAD_CHAR" + full + "262144 elements");
  EXPECT_EQ(complaint_about("\"" + many, "READ CHAR"), "x:1:11: READ" + full + "262144 elements");
  EXPECT_EQ(complaint_about(numbers, "CONST INT 0 FREAD INT"),
            "x:1:23: FREAD" + full + "262144 elements");
  EXPECT_EQ(complaint_about("( " + many, "READ INT"), "");
}

// A run never sees what an earlier run left in the memory, even if that run failed halfway.
TEST(VcodeRun, RunsShareKeptMemory) {
  const integers many(300'000, 7);
  kept_memory kept;
  for (const unsigned threads : {1U, 2U, 3U}) {
    for (const engine each : {engine::lazy, engine::workers, engine::spmd}) {
      run_options how;
      how.threads = threads;
      how.engine = each;
      how.kept = &kept;
      const auto sum = result_of("CPOP 1 2 CPOP 1 2 + INT CPOP 1 1 +_REDUCE INT",
                                 {many, many, segments{{100'000, 0, 200'000}}}, how);
      EXPECT_EQ(std::get<integers>(sum[0]), (integers{1'400'000, 0, 2'800'000}));
      EXPECT_NE(complaint("CONST INT 0 CONST INT 1 CONST INT 2000000 MAKE_SEGDES INDEX + INT",
                          {many}, how),
                "");
    }
  }
}

}  // namespace
}  // namespace tutti::vcode
