// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests of teams: the teams on which they run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/refusal.hpp"
#include "tests/support/waits.hpp"
#include "tutti/registry.hpp"
#include "tutti/team/team.hpp"

namespace tutti::test {

struct shape {
  rank_t threads = 2;
  rank_t ranks = 0;
  std::string barrier = {};
  std::string wait = "adaptive";

  team_options options() const {
    return {.threads = threads, .ranks = ranks, .barrier = barrier, .wait = wait};
  }
  rank_t size() const { return ranks == 0 ? threads : ranks; }
  bool is_virtual() const { return size() > threads; }
  bool burns_the_core() const { return tutti::test::burns_the_core(wait); }
  // The number of regions that a test can afford.
  unsigned regions() const { return burns_the_core() ? 10 : size() > 8 ? 20 : 50; }

  std::string name() const {
    std::string text = barrier.empty() ? "own" : barrier + "_" + wait;
    text += "_" + std::to_string(threads) + "_threads";
    return is_virtual() ? text + "_" + std::to_string(ranks) + "_ranks" : text;
  }
};
inline std::ostream& operator<<(std::ostream& out, const shape& s) { return out << s.name(); }
inline constexpr auto name_of_shape = [](const auto& test) { return test.param.name(); };

// Teams with tutti's own barrier: one rank, few, many, more threads than this machine has cores,
// virtual ranks.
inline std::vector<shape> own_shapes() {
  return {{1, 0}, {2, 0}, {3, 0}, {4, 0},  {5, 0},  {8, 0}, {9, 0},
          {1, 3}, {2, 3}, {2, 8}, {3, 17}, {2, 64}, {8, 17}};
}

// Teams with every barrier of the registry and every wait policy that this machine has.
inline std::vector<shape> named_shapes() {
  std::vector<shape> all;
  for (const algorithm_info& algorithm : algorithms)
    for (const wait_info& wait : wait_policies) {
      if (!wait.available()) continue;
      shape s{2, 0, std::string(algorithm.name), std::string(wait.name)};
      all.push_back(s);
      s.ranks = 5;
      all.push_back(s);
      if (s.burns_the_core()) continue;
      s.threads = 5;
      s.ranks = 0;
      all.push_back(s);
    }
  return all;
}

inline std::vector<shape> every_shape() {
  std::vector<shape> all = own_shapes();
  for (shape& s : named_shapes()) all.push_back(std::move(s));
  return all;
}

// Teams for tests that do not depend on how their threads synchronise.
inline std::vector<shape> few_shapes() {
  return {{1, 0},
          {2, 0},
          {5, 0},
          {9, 0},
          {1, 3},
          {2, 8},
          {3, 17},
          {3, 0, "recursive", "park"},
          {3, 7, "dissemination", "yield"}};
}

// The options of a team whose virtual ranks block their threads on purpose.
inline team_options that_may_block(team_options options) {
  options.fibers.checks = false;
  return options;
}

// Checks that every rank is called, and that all synchronise in every way there is.
inline void expect_works(team& t) {
  std::vector<rank_t> calls(t.size());
  const rank_t sum = t.size() * (t.size() + 1) / 2;
  for (int region = 0; region < 2; ++region)
    t.run([&](member& me) {
      ++calls[me.rank()];
      me.barrier();
      EXPECT_EQ(me.reduce(plus{}, me.rank() + 1), sum);
      EXPECT_EQ(me.reduce(plus{}, me.rank() + 2), sum + me.size());
      EXPECT_EQ(me.inclusive_scan(plus{}, rank_t{1}), me.rank() + 1);
    });
  EXPECT_EQ(calls, std::vector<rank_t>(t.size(), 2u));
  EXPECT_EQ(t.run_reduce(plus{}, [](member& me) { return me.rank() + 1; }), sum);
}

}  // namespace tutti::test
