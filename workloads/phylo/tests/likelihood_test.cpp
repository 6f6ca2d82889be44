// SPDX-License-Identifier: Apache-2.0
// Compares the likelihood with sums over all states, with another recursion, and with itself from
// other branches.
#include "workloads/phylo/likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "workloads/phylo/newick.hpp"
#include "workloads/phylo/simulate.hpp"
#include "workloads/phylo/subnormals.hpp"
#include "workloads/phylo/tests/reference.hpp"

namespace tutti::phylo {
namespace {

using test::big;

struct small_case {
  tree t;
  alignment a;
  model m;
  pattern_set p;

  small_case(tree t_, alignment a_, model m_)
      : t(std::move(t_)), a(std::move(a_)), m(std::move(m_)), p(compress(a, t)) {}
};

alignment with_ambiguities(alignment a) {
  for (std::size_t i = 0; i < a.taxa(); ++i) {
    for (std::size_t site = i; site < a.sites(); site += 5) {
      a.rows[i][site] |= static_cast<state_set>(1u << (site % 4));
    }
  }
  a.rows[1][2] = any_state;
  return a;
}

small_case simulated(std::size_t taxa, std::size_t sites, model m, double mean = 0.3) {
  const tree t = random_tree(taxa, mean, taxa);
  simulate_options how;
  how.sites = sites;
  return {t, with_ambiguities(simulate(t, m, how)), std::move(m)};
}

// The sum over columns of the logarithm of the mean over rates.
template <class OneRate>
double expected(const small_case& c, OneRate one_rate) {
  big sum = 0;
  for (std::size_t site = 0; site < c.a.sites(); ++site) {
    big f = 0;
    for (const double rate : c.m.rates()) f += one_rate(test::column_of(c.a, site), rate);
    sum += std::log(f / static_cast<double>(c.m.rates().size()));
  }
  return static_cast<double>(sum);
}

// Options of a team with fewer threads than ranks.
team_options virtual_ranks(rank_t threads, rank_t ranks) {
  team_options o;
  o.threads = std::min(threads, ranks);
  o.ranks = ranks;
  // The check is off because ranks allocate the memory on which they compute, and locks of the
  // allocator and of page tables may block them for a moment.
  o.fibers.checks = false;
  return o;
}

TEST(Likelihood, IsTheSumOverAllStatesOfAllNodes) {
  team workers(2);
  for (const std::size_t taxa : {3u, 4u, 5u}) {
    small_case c = simulated(taxa, 30, model(test::uneven(), gamma_rates(0.6, 3)));
    const double sum = expected(c, [&](const auto& column, double rate) {
      return test::brute_force(c.t, column, c.m.parameters(), rate);
    });
    for (const kernels& k : available_kernels()) {
      likelihood l(workers, c.t, c.p, c.m, {.loops = &k});
      EXPECT_NEAR(l.log_likelihood(), sum, 1e-12 * std::abs(sum)) << taxa << ' ' << k.name;
    }
  }
}

TEST(Likelihood, IsTheSameAtEveryBranch) {
  team workers(1);
  small_case c = simulated(20, 100, model(test::uneven(), gamma_rates(0.6, 4)));
  likelihood l(workers, c.t, c.p, c.m);
  const double at_first = l.log_likelihood();
  for (edge_t e = 0; e < c.t.edges.size(); ++e) {
    l.select((e * 7) % static_cast<edge_t>(c.t.edges.size()));
    EXPECT_NEAR(l.log_likelihood(), at_first, 1e-12 * std::abs(at_first)) << e;
  }
}

// The likelihood is about 10^-2000 per column: without scaling it would be 0.
TEST(Likelihood, DeepTreesDoNotUnderflow) {
  team workers(2);
  const tree t = random_tree(2500, 2.0, 3);
  model m(test::uneven(), {1.0});
  simulate_options how;
  how.sites = 12;
  small_case c(t, simulate(t, m, how), m);
  likelihood l(workers, c.t, c.p, c.m);
  const std::vector<double> logs = l.pattern_log_likelihoods();
  double smallest = 0;
  for (std::size_t site = 0; site < c.a.sites(); ++site) {
    const auto reference =
        static_cast<double>(test::pruning(c.t, test::column_of(c.a, site), c.m.parameters(), 1.0));
    EXPECT_NEAR(logs[c.p.slot_of_site[site]], reference, 1e-11 * std::abs(reference));
    smallest = std::min(smallest, reference);
  }
  EXPECT_LT(smallest, std::log(std::numeric_limits<double>::denorm_min()));
}

TEST(Likelihood, DerivativesAreThoseOfFiniteDifferences) {
  team workers(2);
  small_case c = simulated(12, 300, model(test::uneven(), gamma_rates(0.6, 4)), 0.1);
  likelihood l(workers, c.t, c.p, c.m);
  for (edge_t e = 0; e < c.t.edges.size(); ++e) {
    l.select(e);
    for (const double length : {0.01, 0.1, 1.0}) {
      const double h = 1e-4 * length;
      const auto at = [&](double x) {
        l.set_length(x);
        return l.log_likelihood();
      };
      const double low = at(length - h), middle = at(length), high = at(length + h);
      const auto [first, second] = l.differentiate(length);
      EXPECT_NEAR((high - low) / (2 * h), first, 1e-4 * (1 + std::abs(first)))
          << e << ' ' << length;
      EXPECT_NEAR((high - 2 * middle + low) / (h * h), second, 2e-2 * (1 + std::abs(second)))
          << e << ' ' << length;
    }
    l.set_length(0.07);
  }
}

// The lengths change along a walk that is not the optimiser's; a new object computes everything
// again.
TEST(Likelihood, ChangedLengthsAreSeenFromEveryBranch) {
  team workers(2);
  small_case c = simulated(30, 60, model(test::uneven(), {1.0}));
  likelihood l(workers, c.t, c.p, c.m);
  for (edge_t i = 0; i < 200; ++i) {
    const auto e = static_cast<edge_t>((i * 37 + i * i) % c.t.edges.size());
    l.select(e);
    if (i % 3 == 0) l.differentiate(0.2);
    l.set_length(0.01 * (1 + i % 40));
    // In most steps several branches are changed before anything is computed.
    if (i % 5 != 0) continue;
    tree copy = c.t;
    likelihood fresh(workers, copy, c.p, c.m);
    const double now = fresh.log_likelihood();
    ASSERT_NEAR(l.log_likelihood(), now, 1e-12 * std::abs(now)) << i;
  }
}

// The bits are the same for every number of ranks and both ways to open regions.
class EveryTeam : public testing::TestWithParam<rank_t> {};

TEST_P(EveryTeam, SameBits) {
  small_case c = simulated(15, 700, model(test::uneven(), gamma_rates(0.6, 4)));
  struct bits {
    double value;
    derivatives slopes;
  };
  const auto compute = [&](team& workers, bool separate) {
    tree copy = c.t;
    likelihood l(workers, copy, c.p, c.m, {.separate = separate});
    l.select(7);
    bits b{l.log_likelihood(), {}};
    l.select(3);
    b.slopes = l.differentiate(0.123);
    return b;
  };
  team one(1);
  const bits alone = compute(one, false);
  for (const bool separate : {false, true}) {
    for (const rank_t threads : {2u, 4u}) {
      team workers(virtual_ranks(threads, GetParam()));
      const bits b = compute(workers, separate);
      EXPECT_EQ(b.value, alone.value) << separate;
      EXPECT_EQ(b.slopes, alone.slopes) << separate;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryTeam, testing::Values(1, 2, 3, 5, 8, 17, 64));

TEST(Likelihood, MoreRanksThanCellsOrPatterns) {
  small_case c = simulated(5, 10, model(test::uneven(), {1.0}));
  team one(1);
  const double alone = likelihood(one, c.t, c.p, c.m).log_likelihood();
  for (const rank_t ranks : {7u, 100u, 128u}) {
    team workers(virtual_ranks(2, ranks));
    EXPECT_NEAR(likelihood(workers, c.t, c.p, c.m).log_likelihood(), alone,
                1e-12 * std::abs(alone));
  }
}

// Rates by site must give the same as if the columns of each rate were a separate alignment, on a
// tree that is longer by that factor.
TEST(Likelihood, RatesBySite) {
  team workers(2);
  small_case c = simulated(10, 120, model(test::uneven(), {1.0}));
  const std::vector<double> rates{0.25, 1.0, 3.0};
  std::vector<std::uint16_t> rate_of_site;
  for (std::size_t site = 0; site < c.a.sites(); ++site) {
    rate_of_site.push_back(static_cast<std::uint16_t>(site * site % 3));
  }
  const pattern_set p = compress(c.a, c.t, rate_of_site);
  const model m = model::with_rates_by_site(test::uneven(), rates);
  big sum = 0;
  for (std::size_t site = 0; site < c.a.sites(); ++site) {
    sum +=
        test::pruning(c.t, test::column_of(c.a, site), m.parameters(), rates[rate_of_site[site]]);
  }
  likelihood l(workers, c.t, p, m);
  EXPECT_NEAR(l.log_likelihood(), static_cast<double>(sum),
              1e-12 * std::abs(static_cast<double>(sum)));
  const double h = 1e-4;
  l.select(5);
  const double slope = l.differentiate(0.2)[0];
  l.set_length(0.2 + h);
  const double high = l.log_likelihood();
  l.set_length(0.2 - h);
  EXPECT_NEAR((high - l.log_likelihood()) / (2 * h), slope, 1e-4 * (1 + std::abs(slope)));
}

// Subnormal numbers are lost in regions only, not in the caller's own arithmetic.
TEST(Likelihood, LeavesTheCallersArithmeticAsItWas) {
  team workers(2);
  small_case c = simulated(10, 50, model(test::uneven(), {1.0}));
  likelihood l(workers, c.t, c.p, c.m);
  l.log_likelihood();
  l.differentiate(0.1);
  volatile double small = std::numeric_limits<double>::min();
  small = small / 4;
  EXPECT_GT(small, 0.0);
  {
    const flush_subnormals mode;
    volatile double lost = std::numeric_limits<double>::min();
    lost = lost / 4;
    EXPECT_EQ(lost, 0.0);
  }
  small = small / 2;
  EXPECT_GT(small, 0.0);
}

TEST(Likelihood, CountsWhatItDoes) {
  team workers(2);
  for (const bool separate : {false, true}) {
    small_case c = simulated(10, 50, model(test::uneven(), {1.0}));
    likelihood l(workers, c.t, c.p, c.m, {.separate = separate});
    const auto before = l.counts();
    l.differentiate(0.1);
    l.differentiate(0.2);
    // The regions are those of partial likelihoods, table and two derivatives, or two for all of
    // these.
    EXPECT_EQ(l.counts().regions - before.regions, separate ? 4u : 2u);
    EXPECT_EQ(l.counts().reductions - before.reductions, 2u);
    EXPECT_EQ(l.counts().partials, c.t.inner_nodes());
  }
}

TEST(Likelihood, MisuseIsRefused) {
  team workers(1);
  small_case c = simulated(5, 10, model(test::uneven(), {1.0}));
  const model by_site = model::with_rates_by_site(test::uneven(), {1.0});
  EXPECT_THROW(likelihood(workers, c.t, c.p, by_site), std::invalid_argument);
  const std::vector<std::uint16_t> second_rate(c.a.sites(), 1);
  EXPECT_THROW(likelihood(workers, c.t, compress(c.a, c.t, second_rate), by_site),
               std::invalid_argument);
  tree other = random_tree(6, 0.1, 1);
  EXPECT_THROW(likelihood(workers, other, c.p, c.m), std::invalid_argument);
  likelihood l(workers, c.t, c.p, c.m);
  EXPECT_THROW(l.set_all_lengths({0.1}), std::invalid_argument);
  // This is impossible under the model: the columns differ, but nothing can change.
  const model frozen(test::uneven(), {0.0});
  likelihood impossible(workers, c.t, c.p, frozen);
  EXPECT_THROW(impossible.log_likelihood(), std::runtime_error);
}

TEST(Likelihood, LengthsAreBroughtInsideTheBounds) {
  team workers(1);
  small_case c = simulated(5, 10, model(test::uneven(), {1.0}));
  c.t.edges[0].length = 0;
  c.t.edges[1].length = 1e9;
  likelihood l(workers, c.t, c.p, c.m);
  EXPECT_EQ(c.t.edges[0].length, least_length);
  EXPECT_EQ(c.t.edges[1].length, most_length);
  EXPECT_TRUE(std::isfinite(l.log_likelihood()));
}

}  // namespace
}  // namespace tutti::phylo
