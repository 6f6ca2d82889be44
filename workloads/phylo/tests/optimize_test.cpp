// SPDX-License-Identifier: Apache-2.0
// Tests Newton-Raphson on known functions, then on trees.
#include "workloads/phylo/optimize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "workloads/phylo/simulate.hpp"
#include "workloads/phylo/site_rates.hpp"
#include "workloads/phylo/tests/reference.hpp"

namespace tutti::phylo {
namespace {

TEST(Newton, FindsTheMaximum) {
  // The maximum of k log t - c t is at k / c.
  for (const double k : {1e-3, 1.0, 50.0}) {
    for (const double start : {1e-6, 0.1, 34.0}) {
      unsigned calls = 0;
      const auto slopes = [&](double t) {
        ++calls;
        return derivatives{k / t - 10, -k / (t * t)};
      };
      EXPECT_NEAR(maximize(slopes, start), k / 10, 1e-5 * k / 10) << k << ' ' << start;
      EXPECT_LT(calls, 30u);
    }
  }
}

TEST(Newton, StopsAtTheBounds) {
  EXPECT_EQ(maximize([](double) { return derivatives{-1.0, -1.0}; }, 0.1), 1e-6);
  EXPECT_EQ(maximize([](double) { return derivatives{1.0, -1e-3}; }, 0.1), 34);
  // The function is not concave anywhere, so only the slope's sign is useful.
  EXPECT_EQ(maximize([](double) { return derivatives{-1.0, 1.0}; }, 0.1), 1e-6);
  EXPECT_EQ(maximize([](double) { return derivatives{1.0, 0.0}; }, 0.1), 34);
}

TEST(Newton, WhereItIsNotConcaveTheStepGoesUphill) {
  // The maximum of exp(-(log t)^2) is at 1; the function is convex on both sides of it.
  const auto slopes = [](double t) {
    const double u = std::log(t), f = std::exp(-u * u);
    return derivatives{-2 * u / t * f, (4 * u * u - 2 + 2 * u) / (t * t) * f};
  };
  for (const double start : {0.05, 0.3, 1.0, 3.0, 20.0}) {
    EXPECT_NEAR(maximize(slopes, start, {.tolerance = 1e-6}), 1, 1e-5) << start;
  }
}

TEST(Newton, RefusesWhatIsNotANumber) {
  EXPECT_THROW(maximize(
                   [](double) {
                     return derivatives{std::nan(""), 0.0};
                   },
                   0.1),
               std::runtime_error);
}

struct long_alignment {
  model m{test::uneven(), gamma_rates(0.8, 4)};
  tree truth = random_tree(24, 0.12, 5);
  alignment a;
  pattern_set p;

  explicit long_alignment(std::size_t sites) {
    simulate_options how;
    how.sites = sites;
    a = simulate(truth, m, how);
    p = compress(a, truth);
  }
};

TEST(Optimize, FindsTheLengthsThatTheAlignmentEvolvedAlong) {
  long_alignment c(20'000);
  team workers(2);
  tree t = c.truth;
  likelihood l(workers, t, c.p, c.m);
  const double of_truth = l.log_likelihood();
  l.set_all_lengths(std::vector<double>(t.edges.size(), 0.1));
  const double at_start = l.log_likelihood();
  const optimize_result r = optimize_lengths(l);
  EXPECT_TRUE(r.converged);
  EXPECT_GT(r.log_likelihood, at_start);
  // The best lengths fit at least as well as the true ones, and only as much better as chance
  // allows.
  EXPECT_GE(r.log_likelihood, of_truth);
  EXPECT_LT(r.log_likelihood, of_truth + static_cast<double>(t.edges.size()));
  for (edge_t e = 0; e < t.edges.size(); ++e) {
    const double x = c.truth.edges[e].length;
    EXPECT_NEAR(t.edges[e].length, x, 0.01 + 0.1 * x) << e;
  }
  EXPECT_EQ(l.log_likelihood(), r.log_likelihood);
}

TEST(Optimize, EndsAtAStationaryPoint) {
  long_alignment c(2'000);
  team workers(1);
  tree t = c.truth;
  likelihood l(workers, t, c.p, c.m);
  optimize_options o;
  o.epsilon = 1e-8;
  o.newton.tolerance = 1e-7;
  optimize_lengths(l, o);
  for (edge_t e = 0; e < t.edges.size(); ++e) {
    l.select(e);
    const double x = t.edges[e].length;
    const auto [slope, curvature] = l.differentiate(x);
    if (x <= least_length) {
      EXPECT_LE(slope, 0) << e;
    } else {
      EXPECT_LT(curvature, 0) << e;
      EXPECT_LT(std::abs(slope / curvature), 1e-4 * x) << e;
    }
  }
}

TEST(Optimize, ItsResultDoesNotDependOnTheTeam) {
  long_alignment c(500);
  std::vector<double> lengths;
  double value = 0;
  for (const rank_t ranks : {1u, 2u, 3u, 4u}) {
    team workers(ranks);
    tree t = c.truth;
    likelihood l(workers, t, c.p, c.m, {.separate = ranks == 4});
    l.set_all_lengths(std::vector<double>(t.edges.size(), 0.1));
    const optimize_result r = optimize_lengths(l);
    if (ranks == 1) {
      value = r.log_likelihood;
      lengths = t.lengths();
    }
    EXPECT_EQ(r.log_likelihood, value) << ranks;
    EXPECT_EQ(t.lengths(), lengths) << ranks;
  }
}

TEST(Optimize, ReportsCyclesAndStopsWhenToldTo) {
  long_alignment c(200);
  team workers(1);
  tree t = c.truth;
  likelihood l(workers, t, c.p, c.m);
  l.set_all_lengths(std::vector<double>(t.edges.size(), 1.0));
  optimize_options o;
  o.most_cycles = 1;
  std::vector<unsigned> seen;
  o.progress = [&](unsigned cycle, double) { seen.push_back(cycle); };
  const optimize_result r = optimize_lengths(l, o);
  EXPECT_FALSE(r.converged);
  EXPECT_EQ(r.cycles, 1u);
  EXPECT_EQ(seen, std::vector<unsigned>{1});
}

TEST(SiteRates, FastColumnsGetHighRates) {
  team workers(2);
  const tree t = random_tree(40, 0.1, 9);
  // Half of the columns evolve at a tenth of the rate, half at twice the rate.
  simulate_options how;
  how.sites = 300;
  alignment slow = simulate(t, model(test::uneven(), {0.1}), how);
  const alignment fast = simulate(t, model(test::uneven(), {2.0}), how);
  for (std::size_t i = 0; i < slow.taxa(); ++i) {
    slow.rows[i].insert(slow.rows[i].end(), fast.rows[i].begin(), fast.rows[i].end());
  }
  const site_rates r = estimate_site_rates(workers, t, slow, test::uneven(), 25);
  ASSERT_EQ(r.rate_of_site.size(), 600u);
  const auto mean = [&](std::size_t first) {
    double sum = 0;
    for (std::size_t i = first; i < first + 300; ++i) sum += r.rates[r.rate_of_site[i]];
    return sum / 300;
  };
  EXPECT_GT(mean(300), 5 * mean(0));
  EXPECT_NEAR((mean(0) + mean(300)) / 2, 1, 1e-12);
  // The rates are written, read and used.
  const site_rates again = parse_site_rates(to_text(r), "f", 600);
  const pattern_set p = compress(slow, t, again.rate_of_site);
  tree copy = t;
  const model cat = model::with_rates_by_site(test::uneven(), again.rates);
  const model flat(test::uneven());
  EXPECT_GT(likelihood(workers, copy, p, cat).log_likelihood(),
            likelihood(workers, copy, compress(slow, t), flat).log_likelihood());
  EXPECT_THROW(estimate_site_rates(workers, t, slow, test::uneven(), 1), std::invalid_argument);
}

}  // namespace
}  // namespace tutti::phylo
