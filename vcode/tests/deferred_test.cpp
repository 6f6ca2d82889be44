// SPDX-License-Identifier: Apache-2.0
// The lazy engine defers or never computes some vectors (INDEX, DIST, descriptors of equal
// lengths). Its results must equal those of an engine that computes everything at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "tutti/team/team.hpp"
#include "vcode/language/random_chain.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

using integers = std::vector<std::int32_t>;

struct shape {
  const char* name;
  integers lengths;
};

std::vector<shape> shapes() {
  integers small;
  for (int i = 0; i < 9000; ++i) small.push_back(i * 7 % 13);
  small.push_back(9000);
  // There are as many elements as segments, so that one vector may get the other's memory.
  integers pairs(10000, 2);
  std::fill(pairs.begin() + 5000, pairs.end(), 0);
  return {{"OneSegment", {45000}},
          {"Ones", integers(45000, 1)},
          {"Equal", integers(9000, 5)},
          {"Empty", {0, 40000, 0, 0, 5001, 1, 0}},
          {"None", {}},
          {"Pairs", pairs},
          {"Small", small}};
}

integers plus(integers lengths, std::int32_t more) {
  for (auto& each : lengths) each += more;
  return lengths;
}
std::int32_t sum(const integers& v) { return std::accumulate(v.begin(), v.end(), 0); }
integers counted(std::int32_t count, std::int32_t factor, std::int32_t modulo) {
  integers made;
  for (std::int32_t k = 0; k < count; ++k) made.push_back(k * factor % modulo);
  return made;
}
std::int32_t size(const integers& v) { return static_cast<std::int32_t>(v.size()); }

class VcodeDeferred : public testing::TestWithParam<shape> {
 protected:
  const integers& lengths() const { return GetParam().lengths; }
  const integers longer = plus(lengths(), 3);

  // Compares the top of the stack from the lazy engine on 1, 2 and 3 ranks with that of an engine
  // that defers nothing.
  static void expect_same(const std::string& body, const std::vector<vector_value>& inputs) {
    const program code = compile("FUNC A " + body + " RET");
    run_options eager;
    eager.engine = engine::workers;
    const run_result wanted = run(code, inputs, eager);
    for (const unsigned ranks : {1U, 2U, 3U}) {
      run_options lazy;
      lazy.threads = std::min(ranks, 2U);
      lazy.ranks = ranks;
      for (const std::size_t least : {lazy.defer_from, std::size_t{1}}) {
        lazy.defer_from = least;
        const run_result got = run(code, inputs, lazy);
        EXPECT_EQ(got.stack, wanted.stack)
            << body << " on " << ranks << " ranks, deferred from " << least;
      }
    }
  }
};

TEST_P(VcodeDeferred, DistributionInAChain) {
  const vector_value data = counted(sum(lengths()), 17, 1001);
  const vector_value values = counted(size(lengths()), 5, 97);
  expect_same("DIST INT + INT", {data, values, segments{lengths()}});
  expect_same("DIST INT COPY 1 0 CPOP 1 2 + INT", {data, values, segments{lengths()}});
}

TEST_P(VcodeDeferred, SlicesAndStridesAreGathered) {
  const vector_value source = counted(sum(longer), 17, 100003);
  const vector_value starts = counted(size(lengths()), 1, 4);
  const segments from{longer}, to{lengths()};
  for (const std::int32_t stride : {1, 0}) {
    const vector_value strides = integers(lengths().size(), stride);
    expect_same("INDEX CPOP 2 2 BPERMUTE INT", {from, to, source, starts, strides, to});
  }
}

TEST_P(VcodeDeferred, ComputedIndicesAreGathered) {
  const vector_value source = counted(sum(longer), 17, 100003);
  const vector_value zeros = integers(lengths().size(), 0), ones = integers(lengths().size(), 1);
  const vector_value twos = integers(static_cast<std::size_t>(sum(lengths())), 2);
  const segments from{longer}, to{lengths()};
  expect_same("INDEX + INT CPOP 2 2 BPERMUTE INT", {from, to, source, twos, zeros, ones, to});
}

TEST_P(VcodeDeferred, SlicesAreScattered) {
  const vector_value source = counted(sum(lengths()), 17, 100003);
  const vector_value before = counted(sum(longer), 3, 101);
  const vector_value starts = counted(size(lengths()), 1, 4);
  const vector_value ones = integers(lengths().size(), 1);
  const segments from{lengths()}, to{longer};
  expect_same("INDEX CPOP 3 2 DPERMUTE INT", {before, from, to, source, starts, ones, from});
  // The default is a constant: the parts of the result are put together over it.
  const vector_value seven = integers{7};
  expect_same(
      "DIST INT CPOP 1 6 CPOP 1 6 CPOP 1 6 CPOP 1 6 CPOP 1 6 CPOP 1 6 INDEX CPOP 3 2 DPERMUTE INT",
      {from, to, source, starts, ones, from, seven, segments{{sum(longer)}}});
  const vector_value zeros = integers(lengths().size(), 0);
  expect_same("INDEX CPOP 1 2 PERMUTE INT", {from, source, zeros, ones, from});
}

// Computing the source or the default stores the index and releases the operands from which it was
// deferred.
TEST_P(VcodeDeferred, SlicesOfWhatComesFromTheirIndex) {
  const vector_value data = counted(sum(lengths()), 17, 100003);
  const vector_value zeros = integers(lengths().size(), 0), ones = integers(lengths().size(), 1);
  const segments s{lengths()};
  const std::vector<vector_value> inputs{s, s, data, zeros, ones, s};
  const std::string source = "INDEX COPY 1 0 CPOP 1 2 + INT CPOP 1 1 ";
  expect_same(source + "CPOP 2 2 BPERMUTE INT", inputs);
  expect_same(source + "COPY 1 1 CPOP 2 3 DPERMUTE INT", inputs);
  expect_same(source + "CPOP 1 2 POP 1 3 PERMUTE INT", inputs);
}

TEST_P(VcodeDeferred, AConstantIsScattered) {
  integers index;
  for (const std::int32_t length : lengths()) {
    for (std::int32_t k = 0; k < length; ++k) index.push_back(k * 5 % (length + 3));
  }
  const vector_value before = counted(sum(longer), 3, 101);
  const vector_value seven = integers{7};
  expect_same(
      "DIST INT CPOP 1 1 CPOP 3 2 DPERMUTE INT",
      {before, segments{lengths()}, segments{longer}, index, seven, segments{{sum(lengths())}}});
}

TEST_P(VcodeDeferred, DescriptorsOfEqualLengths) {
  const vector_value values = counted(sum(lengths()), 5, 97);
  for (const std::int32_t each : {1, 3}) {
    const vector_value length = integers{each};
    // Makes a segment of `each` for every element; its lengths are a deferred constant.
    const std::string nested = "DIST INT MAKE_SEGDES ";
    const segments all{{sum(lengths())}};
    expect_same(nested + "DIST INT", {values, length, all});
    expect_same(nested + "COPY 1 0 CPOP 1 2 CPOP 1 1 DIST INT CPOP 1 1 +_REDUCE INT",
                {values, length, all});
    expect_same(nested + "COPY 1 0 LENGTHS", {length, all});
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, VcodeDeferred, testing::ValuesIn(shapes()),
                         [](const auto& which) { return which.param.name; });

// UBSan sees whether such an index is added to the first place of its segment.
TEST(VcodeDeferred, EmptySlicesBeginAnywhere) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  integers lengths(3000, 3), starts(3000, 1);
  integers longer(3000, 4);
  for (std::size_t j = 1; j < lengths.size(); j += 2) {
    lengths[j] = 0;
    starts[j] = j % 4 == 1 ? most : -most - 1;
  }
  const integers ones(3000, 1), data(4500, 7), before(12000, 1);
  const segments from{lengths}, to{longer};
  run_options how;
  how.defer_from = 1;
  const run_result gathered = run(compile("FUNC A INDEX CPOP 2 2 BPERMUTE INT RET"),
                                  {to, from, before, starts, ones, from}, how);
  EXPECT_EQ(gathered.stack.back(), vector_value(integers(4500, 1)));
  const run_result scattered = run(compile("FUNC A INDEX CPOP 3 2 DPERMUTE INT RET"),
                                   {before, from, to, data, starts, ones, from}, how);
  const auto& places = std::get<integers>(scattered.stack.back());
  EXPECT_EQ(std::count(places.begin(), places.end(), 7), 4500);
}

// The indices are never computed, but they are checked.
TEST(VcodeDeferredMisuse, SlicesOutsideAreRefused) {
  const integers lengths(4, 5000);
  const segments s{lengths};
  const integers data(20000, 1), ones(4, 1);
  for (const integers& starts : {integers{0, 0, 1, 0}, integers{-1, 0, 0, 0}}) {
    for (const unsigned threads : {1U, 2U}) {
      run_options how;
      how.threads = threads;
      EXPECT_THROW(run(compile("FUNC A INDEX CPOP 2 2 BPERMUTE INT RET"),
                       {s, s, data, starts, ones, s}, how),
                   run_error);
      EXPECT_THROW(run(compile("FUNC A INDEX CPOP 3 2 DPERMUTE INT RET"),
                       {data, s, s, data, starts, ones, s}, how),
                   run_error);
      EXPECT_THROW(
          run(compile("FUNC A INDEX CPOP 1 2 PERMUTE INT RET"), {s, data, starts, ones, s}, how),
          run_error);
    }
  }
}

TEST(VcodeDeferredMisuse, TooManyElementsAreRefused) {
  EXPECT_THROW(run(compile("FUNC A CONST INT 1000000 CONST SEGDES 10000 DIST INT MAKE_SEGDES RET")),
               run_error);
  EXPECT_THROW(run(compile("FUNC A CONST INT -1 CONST SEGDES 10000 DIST INT MAKE_SEGDES RET")),
               run_error);
}

// Chains that nobody chose: the bits are those of an engine that defers nothing, on every vector
// unit, and less than a third of the bytes move.
TEST(VcodeDeferred, RandomChainsGain) {
  const std::string widest = vector_unit();
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const program code = compile(random_chain(seed, 50'001, 12), "chain");
    run_options plain;
    plain.engine = engine::workers;
    const run_result wanted = run(code, {}, plain);
    for (const auto& unit : vector_units()) {
      force_vector_unit(unit);
      for (const unsigned threads : {1U, 2U}) {
        run_options how;
        how.threads = threads;
        how.share_from = 1000;
        const run_result got = run(code, {}, how);
        EXPECT_EQ(got.stack.size(), 1U);
        EXPECT_EQ(to_text(got.stack[0]), to_text(wanted.stack[0])) << seed << " " << unit;
        EXPECT_LT(got.statistics.bytes * 3, wanted.statistics.bytes) << seed;
      }
    }
    force_vector_unit(widest);
  }
}

// The remainder and the quotient by a constant are those of the instruction on vectors.
TEST(VcodeDeferred, DividesByConstants) {
  for (const std::int32_t divisor :
       {1, -1, 2, -2, 3, 7, -7, 100, 65537, 2147483647, -2147483647 - 1}) {
    const std::string d = std::to_string(divisor);
    for (const std::string instruction : {"%", "/ INT"}) {
      const std::string body =
          "FUNC MAIN CONST INT -2147483648 CONST INT 85899 CONST SEGDES 50000 INDEX CONST INT " +
          d + " CONST SEGDES 50000 DIST INT " + instruction + " RET";
      run_options plain;
      plain.engine = engine::workers;
      EXPECT_EQ(run(compile(body, "x")).stack, run(compile(body, "x"), {}, plain).stack)
          << instruction << " " << d;
    }
  }
}

// A gather, a product and sums of short segments are one pass, and indices are still checked.
TEST(VcodeDeferred, GathersOnTheWay) {
  const std::string body =
      "FUNC MAIN COPY 1 0 MAKE_SEGDES CPOP 1 1 POP 1 0 "
      "CONST INT 0 CONST INT 1 CONST SEGDES 20000 INDEX I_TO_F SQRT CPOP 1 2 "
      "CONST SEGDES 20000 CONST SEGDES 60000 BPERMUTE FLOAT COPY 1 0 * FLOAT CPOP 1 1 "
      "+_REDUCE FLOAT RET";
  std::vector<std::int32_t> index(60'000), lengths;
  for (std::size_t k = 0; k < index.size(); ++k)
    index[k] = static_cast<std::int32_t>(k * 7919 % 20000);
  for (std::int32_t left = 60'000, k = 0; left > 0; left -= lengths.back(), ++k) {
    lengths.push_back(std::min(left, k % 97 == 0 ? 900 : k % 7));
  }
  const program code = compile(body, "x");
  run_options plain;
  plain.engine = engine::workers;
  for (const bool strict : {false, true}) {
    plain.strict = strict;
    const auto wanted = run(code, {index, lengths}, plain);
    for (const unsigned threads : {1U, 2U, 3U}) {
      run_options how;
      how.threads = threads;
      how.share_from = 1000;
      how.strict = strict;
      const auto got = run(code, {index, lengths}, how);
      EXPECT_EQ(got.stack, wanted.stack) << threads;
      EXPECT_LT(got.statistics.bytes * 2, wanted.statistics.bytes);
    }
  }
  index[59'999] = 20'000;
  EXPECT_THROW(run(code, {index, lengths}), run_error);
}

}  // namespace
}  // namespace tutti::vcode
