// SPDX-License-Identifier: Apache-2.0
// Compares permutes of long vectors with a plain loop: with ascending indices, so that threads
// share the elements, and with other indices, so that they share the places; with and without a
// default that may be overwritten.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "tutti/team/team.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

using integers = std::vector<std::int32_t>;

// Computes the index for element k of a segment from its numbers of elements and places.
struct pattern {
  const char* name;
  std::function<std::int32_t(std::int32_t k, std::int32_t elements, std::int32_t places)> index;
};
const pattern patterns[] = {
    {"up", [](std::int32_t k, std::int32_t, std::int32_t) { return k + k / 4; }},
    // Wherever the elements are cut, the first index behind the cut equals the last before it.
    {"up in groups", [](std::int32_t k, std::int32_t, std::int32_t) { return k / 1000; }},
    {"down", [](std::int32_t k, std::int32_t, std::int32_t places) { return places - 1 - k; }},
    {"all the same", [](std::int32_t, std::int32_t, std::int32_t places) { return places / 2; }},
    {"twice up",
     [](std::int32_t k, std::int32_t elements, std::int32_t) { return k % (elements / 2 + 1); }},
    {"up, but for the last",
     [](std::int32_t k, std::int32_t elements, std::int32_t) { return k + 1 == elements ? 0 : k; }},
};

const integers lengths_of[] = {{40000}, {0, 30011, 0, 10000, 3}};

integers more(integers lengths) {
  for (auto& each : lengths) each += each / 2;
  return lengths;
}
std::int32_t sum(const integers& v) { return std::accumulate(v.begin(), v.end(), 0); }

struct task {
  integers source, target;
  integers data, index;
  // Returns the result, given the earlier content of the places.
  integers result(integers places) const {
    std::int32_t from = 0, to = 0;
    for (std::size_t j = 0; j < source.size(); ++j) {
      for (std::int32_t k = from; k < from + source[j]; ++k) {
        const auto element = static_cast<std::size_t>(k);
        places[static_cast<std::size_t>(to + index[element])] = data[element];
      }
      from += source[j];
      to += target[j];
    }
    return places;
  }
};

task make(const pattern& p, const integers& lengths) {
  task made{lengths, more(lengths), integers(static_cast<std::size_t>(sum(lengths))), {}};
  std::iota(made.data.begin(), made.data.end(), 1);
  for (std::size_t j = 0; j < lengths.size(); ++j) {
    for (std::int32_t k = 0; k < lengths[j]; ++k) {
      made.index.push_back(p.index(k, lengths[j], made.target[j]));
    }
  }
  return made;
}

void for_each_setting(const std::function<void(const run_options&)>& act) {
  static std::map<unsigned, std::unique_ptr<team>> teams;
  for (const unsigned ranks : {1U, 2U, 5U}) {
    auto& found = teams[ranks];
    if (found == nullptr) {
      team_options how;
      how.threads = std::min(ranks, 2U);
      how.ranks = ranks;
      // The same options as in run().
      how.fibers.checks = false;
      found = std::make_unique<team>(how);
    }
    for (const engine e : {engine::lazy, engine::workers, engine::spmd}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, engine " << static_cast<int>(e));
      run_options how;
      how.engine = e;
      how.team = found.get();
      act(how);
    }
  }
}

void expect_all(const std::string& body, const std::vector<vector_value>& inputs,
                const std::vector<integers>& wanted) {
  const program code = compile("FUNC A " + body + " RET");
  for_each_setting([&](const run_options& how) {
    const auto stack = run(code, inputs, how).stack;
    ASSERT_EQ(stack.size(), wanted.size());
    for (std::size_t i = 0; i < stack.size(); ++i) {
      EXPECT_TRUE(std::get<integers>(stack[i]) == wanted[i]) << "result " << i;
    }
  });
}

TEST(VcodePermute, AsAPlainLoop) {
  for (const pattern& p : patterns) {
    for (const integers& lengths : lengths_of) {
      SCOPED_TRACE(testing::Message() << p.name << ", " << lengths.size() << " segments");
      const task t = make(p, lengths);
      const segments source{t.source};
      const segments target{t.target};
      integers before(static_cast<std::size_t>(sum(t.target)));
      std::iota(before.begin(), before.end(), -90000);
      expect_all("DPERMUTE INT", {t.data, t.index, before, source, target}, {t.result(before)});
      // The default has another reference, so it must stay unchanged.
      expect_all("COPY 1 2 CPOP 5 1 DPERMUTE INT", {t.data, t.index, before, source, target},
                 {before, t.result(before)});
      expect_all("FPERMUTE INT",
                 {t.data, t.index, std::vector<std::uint8_t>(t.data.size(), 1), source, target},
                 {t.result(integers(before.size()))});
    }
  }
}

// DIST of equal values is known to be a constant; DIST of different values is not.
TEST(VcodePermute, IntoWhatDistMakes) {
  for (const bool equal : {true, false}) {
    const task t = make(patterns[0], lengths_of[1]);
    integers values(t.target.size(), 7);
    if (!equal) values.back() = 8;
    integers before;
    for (std::size_t j = 0; j < values.size(); ++j) {
      before.insert(before.end(), static_cast<std::size_t>(t.target[j]), values[j]);
    }
    const std::vector<vector_value> inputs{t.data, t.index, segments{t.source}, segments{t.target},
                                           values};
    expect_all("COPY 1 1 DIST INT CPOP 2 1 DPERMUTE INT", inputs, {t.result(before)});
  }
}

TEST(VcodePermute, RefusesAnIndexOnAnyThread) {
  for (const std::int32_t wrong : {-1, 60000}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{20000}, std::size_t{39999}}) {
      task t = make(patterns[0], lengths_of[0]);
      t.index[at] = wrong;
      for_each_setting([&](const run_options& how) {
        try {
          run(compile("FUNC A DPERMUTE INT RET", "x"),
              {t.data, t.index, integers(60000), segments{t.source}, segments{t.target}}, how);
          ADD_FAILURE() << "index " << wrong << " was taken";
        } catch (const run_error& e) {
          EXPECT_EQ(std::string(e.what()), "x:1:8: DPERMUTE in A: index " + std::to_string(wrong) +
                                               " (element " + std::to_string(at) +
                                               ") is outside of segment 0, whose length is 60000");
        }
      });
    }
  }
}

}  // namespace
}  // namespace tutti::vcode
