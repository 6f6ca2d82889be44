// SPDX-License-Identifier: Apache-2.0
// Compares with libpll on the same tree, model and columns: log-likelihood, derivatives and the
// whole optimisation.
#include <gtest/gtest.h>

#include <cmath>

#include "workloads/phylo/compare/libpll_likelihood.hpp"
#include "workloads/phylo/optimize.hpp"
#include "workloads/phylo/simulate.hpp"
#include "workloads/phylo/tests/reference.hpp"

namespace tutti::phylo {
namespace {

struct data {
  model m;
  tree t;
  alignment a;
  pattern_set p;
};

data simulated(std::size_t taxa, std::size_t sites, double mean, double gaps) {
  data d{model(test::uneven(), gamma_rates(0.55, 4)), random_tree(taxa, mean, 11), {}, {}};
  simulate_options how;
  how.sites = sites;
  how.gaps = gaps;
  d.a = simulate(d.t, d.m, how);
  d.a.rows[0][1] = states_of('R');
  d.p = compress(d.a, d.t);
  return d;
}

void expect_same(const data& d, const char* runtime_name, unsigned threads) {
  SCOPED_TRACE(std::string(runtime_name) + " " + std::to_string(threads));
  tree ours = d.t, theirs = d.t;
  team workers(threads);
  likelihood l(workers, ours, d.p, d.m);
  const auto runtime = compare::make_runtime(runtime_name, threads);
  compare::libpll_likelihood pll(*runtime, theirs, d.p, d.m);
  const double value = l.log_likelihood();
  EXPECT_NEAR(pll.log_likelihood(), value, 1e-10 * std::abs(value));
  for (const edge_t e : {0u, 3u, 5u}) {
    for (const double length : {1e-3, 0.1, 2.0}) {
      l.select(e);
      pll.select(e);
      const derivatives a = l.differentiate(length), b = pll.differentiate(length);
      EXPECT_NEAR(a[0], b[0], 1e-7 * (1 + std::abs(b[0]))) << e << ' ' << length;
      EXPECT_NEAR(a[1], b[1], 1e-7 * (1 + std::abs(b[1]))) << e << ' ' << length;
    }
  }
  const std::vector<double> start(d.t.edges.size(), 0.1);
  l.set_all_lengths(start);
  pll.set_all_lengths(start);
  const optimize_result a = optimize_lengths(l), b = optimize_lengths(pll);
  EXPECT_NEAR(a.log_likelihood, b.log_likelihood, 1e-8 * std::abs(b.log_likelihood));
  EXPECT_EQ(a.cycles, b.cycles);
  for (edge_t e = 0; e < ours.edges.size(); ++e) {
    EXPECT_NEAR(ours.edges[e].length, theirs.edges[e].length, 1e-5) << e;
  }
}

TEST(Libpll, SmallAlignment) {
  const data d = simulated(12, 400, 0.15, 0.05);
  for (const char* runtime : {"tutti", "pthread"}) {
    for (const unsigned threads : {1u, 2u}) expect_same(d, runtime, threads);
  }
}

// The tree is so deep that both must scale.
TEST(Libpll, DeepTree) { expect_same(simulated(400, 60, 0.4, 0), "tutti", 1); }

TEST(Libpll, RatesBySiteAreRefused) {
  data d = simulated(5, 20, 0.1, 0);
  const auto runtime = compare::make_runtime("tutti", 1);
  const model by_site = model::with_rates_by_site(test::uneven(), {1.0});
  EXPECT_THROW(compare::libpll_likelihood(*runtime, d.t, d.p, by_site), std::invalid_argument);
  EXPECT_THROW(compare::make_runtime("nonsense", 1), std::invalid_argument);
}

}  // namespace
}  // namespace tutti::phylo
