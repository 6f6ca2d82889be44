// SPDX-License-Identifier: Apache-2.0
// Runs every instruction on long vectors of many shapes. Each engine with any number of ranks must
// give, bit for bit, the result of one thread, and one thread must give the result of a plain loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include "tutti/team/team.hpp"
#include "vcode/language/instructions.hpp"
#include "vcode/tests/random_numbers.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

using integers = std::vector<std::int32_t>;
using reals = std::vector<double>;
using flags = std::vector<std::uint8_t>;

struct setting {
  vcode::engine engine;
  unsigned threads;
  unsigned ranks;
};
constexpr setting settings[] = {
    {engine::lazy, 2, 2},    {engine::lazy, 2, 3}, {engine::lazy, 2, 17}, {engine::workers, 2, 2},
    {engine::workers, 2, 5}, {engine::spmd, 2, 2}, {engine::spmd, 2, 3},  {engine::spmd, 1, 17},
};

// One team for each setting, used by all runs.
run_options options_of(const setting& s) {
  static std::map<std::pair<unsigned, unsigned>, std::unique_ptr<team>> teams;
  auto& found = teams[{s.threads, s.ranks}];
  if (found == nullptr) {
    team_options how;
    how.threads = s.threads;
    how.ranks = s.ranks;
    // The same options as in run().
    how.fibers.checks = false;
    found = std::make_unique<team>(how);
  }
  run_options made;
  made.engine = s.engine;
  made.team = found.get();
  return made;
}

class maker : public random_numbers<std::int32_t> {
 public:
  using random_numbers::random_numbers;

  // At least 40000 elements in one huge segment, many small ones, empty ones, or all of these.
  integers lengths(int shape) {
    switch (shape) {
      case 0: return {45000};
      case 1: return integers(45000, 1);
      case 2: return {0, 40000, 3, 0, 0, 5001, 1};
      case 3: return {};
      default: {
        integers made;
        for (int i = 0; i < 6000; ++i) made.push_back(below(16));
        made.push_back(5000);
        return made;
      }
    }
  }
  vector_value vector(char letter, kind stated, std::int32_t count) {
    const kind type = kind_of(letter, stated);
    const auto n = static_cast<std::size_t>(count);
    if (type == kind::real) {
      reals made(n);
      for (double& each : made) each = std::uniform_real_distribution<double>(-3, 3)(generator());
      return made;
    }
    if (type == kind::boolean) {
      flags made(n);
      for (auto& each : made) each = static_cast<std::uint8_t>(below(2));
      return made;
    }
    integers made(n);
    for (auto& each : made) each = below(2000) - 1000;
    // These are divisors.
    for (auto& each : made) each = each == 0 ? 1 : each;
    return made;
  }
  // An index for each element, inside its segment of the target; indices may repeat unless
  // `permutes`.
  integers indices(const integers& of, const integers& target, bool permutes) {
    integers made;
    for (std::size_t j = 0; j < of.size(); ++j) {
      integers segment(static_cast<std::size_t>(of[j]));
      if (permutes) {
        std::iota(segment.begin(), segment.end(), 0);
        std::shuffle(segment.begin(), segment.end(), generator());
      } else {
        for (auto& each : segment) each = below(target[j]);
      }
      made.insert(made.end(), segment.begin(), segment.end());
    }
    return made;
  }
};

std::int32_t sum(const integers& v) { return std::accumulate(v.begin(), v.end(), 0); }

bool is_move(opcode code) { return code >= opcode::permute && code <= opcode::dfpermute; }

std::vector<vector_value> inputs_for(maker& make, const instruction_info& which, kind stated,
                                     int shape) {
  const integers lengths = make.lengths(shape);
  const std::int32_t total = sum(lengths);
  const auto segment_count = static_cast<std::int32_t>(lengths.size());
  const bool on_elements = which.code <= opcode::boolean_to_integer;
  std::vector<vector_value> made;
  for (std::size_t i = 0; i < which.operands.size(); ++i) {
    const char letter = which.operands[i];
    if (letter == 's') {
      made.push_back(segments{lengths});
    } else if (on_elements) {
      made.push_back(make.vector(letter, stated, total));
    } else if (is_move(which.code) && i == 1) {
      made.push_back(make.indices(lengths, lengths, which.code == opcode::permute));
    } else if (which.code == opcode::extract || which.code == opcode::replace) {
      if (i == 1) {
        made.push_back(make.indices(integers(lengths.size(), 1), lengths, false));
      } else {
        made.push_back(make.vector(letter, stated, i == 0 ? total : segment_count));
      }
    } else if (which.code == opcode::dist || which.code == opcode::index) {
      made.push_back(make.vector(letter, stated, segment_count));
    } else if (which.code == opcode::make_segdes) {
      made.push_back(lengths);
    } else {
      made.push_back(make.vector(letter, stated, total));
    }
  }
  return made;
}

bool same_bits(const vector_value& a, const vector_value& b) {
  if (a.index() != b.index()) return false;
  const auto* const x = std::get_if<reals>(&a);
  if (x == nullptr) return a == b;
  const auto& y = std::get<reals>(b);
  return x->size() == y.size() &&
         (x->empty() || std::memcmp(x->data(), y.data(), x->size() * sizeof(double)) == 0);
}

class VcodeEngines : public testing::TestWithParam<int> {};

TEST_P(VcodeEngines, AgreeOnEveryInstruction) {
  maker make(static_cast<unsigned>(GetParam()) + 1);
  for (const auto& each : instructions) {
    if (each.code > opcode::lengths || each.operands.empty()) continue;
    // Every segment needs an element to which its index can point.
    const bool points = each.code == opcode::extract || each.code == opcode::replace;
    if (points && GetParam() != 0 && GetParam() != 1) continue;
    const std::string_view words = each.types.empty() ? std::string_view("-") : each.types;
    for (const char letter : words) {
      const kind stated = letter == '-' ? kind::none : kind_of(letter, kind::none);
      const std::string word = stated == kind::none ? "" : " " + std::string(name_of(stated));
      const program code = compile("FUNC A " + std::string(each.name) + word + " RET");
      const auto inputs = inputs_for(make, each, stated, GetParam());
      const auto wanted = run(code, inputs).stack;
      for (const setting& s : settings) {
        const auto got = run(code, inputs, options_of(s)).stack;
        ASSERT_EQ(got.size(), wanted.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          EXPECT_TRUE(same_bits(got[i], wanted[i]))
              << each.name << word << ", result " << i << ", engine " << static_cast<int>(s.engine)
              << ", ranks " << s.ranks;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, VcodeEngines, testing::Range(0, 5));

// ---- one thread against plain loops

std::vector<vector_value> alone(const std::string& body, const std::vector<vector_value>& inputs) {
  return run(compile("FUNC A " + body + " RET"), inputs).stack;
}

class VcodeLoops : public testing::TestWithParam<int> {};

TEST_P(VcodeLoops, ScansAndReductions) {
  maker make(11);
  const integers lengths = make.lengths(GetParam());
  const auto data = std::get<integers>(make.vector('i', kind::none, sum(lengths)));
  integers scanned, reduced;
  std::size_t at = 0;
  for (const std::int32_t length : lengths) {
    std::int32_t value = 0;
    for (std::int32_t k = 0; k < length; ++k) {
      scanned.push_back(value);
      value += data[at++];
    }
    reduced.push_back(value);
  }
  const std::vector<vector_value> inputs{data, segments{lengths}};
  EXPECT_EQ(std::get<integers>(alone("+_SCAN INT", inputs)[0]), scanned);
  EXPECT_EQ(std::get<integers>(alone("+_REDUCE INT", inputs)[0]), reduced);
}

TEST_P(VcodeLoops, Pack) {
  maker make(12);
  const integers lengths = make.lengths(GetParam());
  const auto data = std::get<reals>(make.vector('f', kind::none, sum(lengths)));
  const auto kept = std::get<flags>(make.vector('b', kind::none, sum(lengths)));
  reals packed;
  integers counts;
  std::size_t at = 0;
  for (const std::int32_t length : lengths) {
    std::int32_t count = 0;
    for (std::int32_t k = 0; k < length; ++k, ++at) {
      if (kept[at] == 0) continue;
      packed.push_back(data[at]);
      ++count;
    }
    counts.push_back(count);
  }
  const auto got = alone("PACK FLOAT", {data, kept, segments{lengths}});
  EXPECT_EQ(std::get<reals>(got[0]), packed);
  EXPECT_EQ(std::get<segments>(got[1]), segments{counts});
}

TEST_P(VcodeLoops, Moves) {
  maker make(13);
  const integers lengths = make.lengths(GetParam());
  const std::int32_t total = sum(lengths);
  const auto data = std::get<integers>(make.vector('i', kind::none, total));
  const auto defaults = std::get<integers>(make.vector('i', kind::none, total));
  const integers index = make.indices(lengths, lengths, false);
  integers gathered(data.size()), scattered = defaults;
  std::size_t base = 0;
  for (const std::int32_t length : lengths) {
    for (std::size_t k = base; k < base + static_cast<std::size_t>(length); ++k) {
      gathered[k] = data[base + static_cast<std::size_t>(index[k])];
      // The last one wins.
      scattered[base + static_cast<std::size_t>(index[k])] = data[k];
    }
    base += static_cast<std::size_t>(length);
  }
  const segments s{lengths};
  EXPECT_EQ(std::get<integers>(alone("BPERMUTE INT", {data, index, s, s})[0]), gathered);
  EXPECT_EQ(std::get<integers>(alone("DPERMUTE INT", {data, index, defaults, s, s})[0]), scattered);
}

template <class T>
integers ranks_of(const std::vector<T>& data, const integers& lengths, bool down) {
  integers made(data.size());
  std::size_t base = 0;
  for (const std::int32_t length : lengths) {
    std::vector<std::size_t> order(static_cast<std::size_t>(length));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return down ? data[base + a] > data[base + b] : data[base + a] < data[base + b];
    });
    for (std::size_t k = 0; k < order.size(); ++k) {
      made[base + order[k]] = static_cast<std::int32_t>(k);
    }
    base += static_cast<std::size_t>(length);
  }
  return made;
}

TEST_P(VcodeLoops, RanksAreStable) {
  maker make(14);
  const integers lengths = make.lengths(GetParam());
  const auto keys = std::get<integers>(make.vector('i', kind::none, sum(lengths)));
  reals real_keys(keys.begin(), keys.end());
  const segments s{lengths};
  for (const bool down : {false, true}) {
    const std::string name = down ? "RANK_DOWN " : "RANK_UP ";
    EXPECT_EQ(std::get<integers>(alone(name + "INT", {keys, s})[0]), ranks_of(keys, lengths, down));
    EXPECT_EQ(std::get<integers>(alone(name + "FLOAT", {real_keys, s})[0]),
              ranks_of(real_keys, lengths, down));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, VcodeLoops, testing::Range(0, 5));

// Strict sums equal a sum from left to right to the last bit; blocked sums may differ in the last
// digits.
TEST(VcodeStrict, SumsFromLeftToRight) {
  maker make(15);
  const auto data = std::get<reals>(make.vector('f', kind::none, 100000));
  const double wanted = std::accumulate(data.begin(), data.end(), 0.0);
  const program code = compile("FUNC A +_REDUCE FLOAT RET");
  for (const setting& s : settings) {
    run_options how = options_of(s);
    how.strict = true;
    EXPECT_EQ(std::get<reals>(run(code, {data, segments{{100000}}}, how).stack[0])[0], wanted);
  }
  const auto blocked = std::get<reals>(run(code, {data, segments{{100000}}}).stack[0])[0];
  EXPECT_NE(blocked, wanted);
  EXPECT_NEAR(blocked, wanted, 1e-9);
}

// A NaN resets the running value, and what follows lies beyond the identity: the result shows how
// often the identity was combined. The vector is an input or a deferred quotient.
void expect_order_of_short_segments(bool is_maximum, std::size_t length, std::size_t copies) {
  reals data;
  for (std::size_t i = 0; i < length * copies; ++i) {
    const std::size_t at = i % length;
    const double beyond = (is_maximum ? -1e37 : 1e37) * static_cast<double>(1 + at);
    data.push_back(at == length / 2 ? std::numeric_limits<double>::quiet_NaN() : beyond);
  }
  double wanted = is_maximum ? -1e36F : 1e36F;
  for (std::size_t i = 0; i < length; ++i) {
    const bool is_kept = is_maximum ? wanted > data[i] : wanted < data[i];
    if (!is_kept) wanted = data[i];
  }
  std::vector<vector_value> inputs{segments{integers(copies, static_cast<std::int32_t>(length))},
                                   data};
  for (const std::string make : {"", "/ FLOAT "}) {
    if (!make.empty()) inputs.emplace_back(reals(data.size(), 1.0));
    const std::string body =
        make + "CPOP 1 1 " + (is_maximum ? "MAX_REDUCE FLOAT" : "MIN_REDUCE FLOAT");
    const program code = compile("FUNC A " + body + " RET");
    const auto expect = [&](const run_options& how, unsigned ranks) {
      EXPECT_TRUE(same_bits(run(code, inputs, how).stack[0], reals(copies, wanted)))
          << body << ", " << copies << " segments of " << length << ", engine "
          << static_cast<int>(how.engine) << ", ranks " << ranks;
    };
    for (const engine each : {engine::lazy, engine::workers, engine::spmd}) {
      run_options how;
      how.engine = each;
      how.threads = 1;
      expect(how, 1);
    }
    for (const setting& s : settings) expect(options_of(s), s.ranks);
  }
}

TEST(VcodeNan, ShortSegmentsAreCombinedFromLeftToRight) {
  for (const bool is_maximum : {true, false}) {
    for (const std::size_t length : {1u, 2u, 3u, 8u, 9u, 15u}) {
      for (const std::size_t copies : {1u, 2u, 11u}) {
        expect_order_of_short_segments(is_maximum, length, copies);
      }
    }
  }
}

// Chains are fused and dropped vectors are not computed, but errors are still reported.
TEST(VcodeLazy, FusesChains) {
  const std::string chain =
      "FUNC A COPY 1 1 COPY 1 1 * FLOAT CPOP 1 1 + FLOAT CPOP 1 1 - FLOAT CONST SEGDES 100000 "
      "+_REDUCE FLOAT RET";
  maker make(16);
  const std::vector<vector_value> inputs{make.vector('f', kind::none, 100000),
                                         make.vector('f', kind::none, 100000)};
  run_options eager;
  eager.engine = engine::workers;
  const run_result lazy = run(compile(chain), inputs);
  const run_result plain = run(compile(chain), inputs, eager);
  EXPECT_TRUE(same_bits(lazy.stack[0], plain.stack[0]));
  EXPECT_EQ(lazy.statistics.passes, 1U);
  EXPECT_EQ(plain.statistics.passes, 4U);
  EXPECT_LT(lazy.statistics.bytes, plain.statistics.bytes / 4);
}

TEST(VcodeLazy, DroppedDivisionsStillFail) {
  EXPECT_THROW(alone("/ INT POP 1 0", {integers(100000, 1), integers(100000, 0)}), run_error);
}

}  // namespace
}  // namespace tutti::vcode
