// SPDX-License-Identifier: Apache-2.0
// The generator gives the same on every machine, and its results are distributed as the model says.
#include "workloads/phylo/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "workloads/phylo/newick.hpp"
#include "workloads/phylo/patterns.hpp"
#include "workloads/phylo/tests/reference.hpp"

namespace tutti::phylo {
namespace {

TEST(Simulate, TheSameSeedGivesTheSame) {
  const tree a = random_tree(50, 0.1, 7), b = random_tree(50, 0.1, 7), c = random_tree(50, 0.1, 8);
  EXPECT_EQ(to_newick(a), to_newick(b));
  EXPECT_NE(to_newick(a), to_newick(c));
  const model m(test::uneven(), gamma_rates(0.7, 4));
  EXPECT_EQ(simulate(a, m, {}).rows, simulate(b, m, {}).rows);
}

TEST(Simulate, TheTreeIsBinaryAndComplete) {
  for (const std::size_t taxa : {3u, 4u, 100u}) {
    const tree t = random_tree(taxa, 0.1, 1);
    EXPECT_EQ(t.edges.size(), 2 * taxa - 3);
    EXPECT_EQ(edges_in_preorder(t).size(), t.edges.size());
  }
  EXPECT_THROW(random_tree(2, 0.1, 1), std::invalid_argument);
}

TEST(Simulate, AsManyPatternsAsAskedFor) {
  const tree t = random_tree(30, 0.1, 1);
  simulate_options how;
  how.patterns = 321;
  const alignment a = simulate(t, model(test::uneven()), how);
  EXPECT_EQ(compress(a, t).patterns, 321u);
  // Three taxa have only 64.
  how.patterns = 100'000;
  EXPECT_THROW(simulate(random_tree(3, 0.1, 1), model(test::uneven()), how), std::runtime_error);
}

TEST(Simulate, StatesAndChangesAreDistributedAsTheModelSays) {
  const tree t = parse_newick("(a:0.1,b:0.2,c:0.3);", "f");
  const substitution s = test::uneven();
  simulate_options how;
  how.sites = 200'000;
  const alignment a = simulate(t, model(s), how);
  const auto p = test::transition(s, 0.3L);
  double joint[4][4] = {};
  for (std::size_t site = 0; site < a.sites(); ++site) {
    const auto x = std::countr_zero(a.rows[0][site]), y = std::countr_zero(a.rows[1][site]);
    joint[x][y] += 1.0 / static_cast<double>(a.sites());
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      // The tolerance is five standard deviations.
      const double share = s.frequencies[i] * static_cast<double>(p[i][j]);
      EXPECT_NEAR(joint[i][j], share, 5 * std::sqrt(share / static_cast<double>(a.sites())));
    }
  }
}

TEST(Simulate, GapsAreLost) {
  const tree t = random_tree(10, 0.1, 1);
  simulate_options how;
  how.sites = 10'000;
  how.gaps = 0.2;
  const alignment a = simulate(t, model(test::uneven()), how);
  std::size_t gaps = 0;
  for (const auto& row : a.rows)
    gaps += static_cast<std::size_t>(std::count(row.begin(), row.end(), any_state));
  EXPECT_NEAR(static_cast<double>(gaps) / 100'000, 0.2, 0.01);
}

}  // namespace
}  // namespace tutti::phylo
