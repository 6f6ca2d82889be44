// SPDX-License-Identifier: Apache-2.0
// Tests the local search from inside: the assignment that it leaves, and its steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "workloads/streamcluster/distance.hpp"
#include "workloads/streamcluster/local_search.hpp"
#include "workloads/streamcluster/means.hpp"
#include "workloads/streamcluster/random.hpp"

namespace tutti::streamcluster {
namespace {

point_set random_points(std::size_t count, std::size_t dimensions, std::uint64_t seed = 1) {
  point_set set(dimensions);
  random_sequence random(seed);
  std::vector<float> row(dimensions);
  for (std::size_t i = 0; i < count; ++i) {
    for (float& x : row) x = static_cast<float>(random.unit());
    set.push(row, 1 + static_cast<double>(random.below(3)), i);
  }
  return set;
}

double square(const point_set& set, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t j = 0; j < set.dimensions(); ++j) {
    const double d =
        static_cast<double>(set.coordinate(a, j)) - static_cast<double>(set.coordinate(b, j));
    sum += d * d;
  }
  return sum;
}

void on_all_ranks(rank_t n, const std::function<void(collectives&)>& body) {
  team ranks(n);
  ranks_of(ranks, collectives_kind::team).run(body);
}

TEST(Distance, IsTheSumOfSquaresInEveryLane) {
  for (const std::size_t dimensions : {1U, 2U, 3U, 17U, 128U}) {
    const point_set set = random_points(tile_points, dimensions);
    std::vector<float> to(dimensions);
    set.copy(5, to);
    alignas(tile_alignment) float out[tile_points];
    squared_distances(set.tile(0), dimensions, to.data(), out);
    for (std::size_t i = 0; i < tile_points; ++i) {
      // The expected bits: the dimensions in their order, rounded after each operation.
      float expected = 0;
      for (std::size_t j = 0; j < dimensions; ++j) {
        const volatile float d = set.coordinate(i, j) - to[j];
        const volatile float dd = d * d;
        expected += dd;
      }
      EXPECT_EQ(out[i], expected) << dimensions << " dimensions, point " << i;
    }
  }
}

class Search : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};

TEST_P(Search, ServesEachPointFromItsNearestCentre) {
  const auto [k_min, k_max] = GetParam();
  const point_set set = random_points(500, 3);
  local_search search(2, k_min, k_max, 7);
  on_all_ranks(2, [&, least = k_min, most = k_max](collectives& me) {
    ASSERT_TRUE(search.run(me, set));
    if (me.decides()) {
      const assignment& a = search.points();
      std::vector<std::size_t> centres;
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (a.open[i] != 0) centres.push_back(i);
      }
      EXPECT_GE(centres.size(), least);
      EXPECT_LE(centres.size(), most);
      for (std::size_t i = 0; i < set.size(); ++i) {
        double nearest = std::numeric_limits<double>::infinity();
        for (const std::size_t c : centres) nearest = std::min(nearest, square(set, i, c));
        EXPECT_NE(a.open[a.centre[i]], 0) << "point " << i << " is served by a closed centre";
        EXPECT_NEAR(square(set, i, a.centre[i]), nearest, 1e-6) << "point " << i;
        EXPECT_NEAR(static_cast<double>(a.cost[i]) * a.quantum(), set.weight(i) * nearest, 1e-6);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Bounds, Search,
                         testing::Values(std::tuple{1, 1}, std::tuple{1, 2}, std::tuple{2, 2},
                                         std::tuple{5, 5}, std::tuple{7, 8}, std::tuple{10, 20},
                                         std::tuple{37, 37}, std::tuple{100, 120},
                                         std::tuple{400, 499}, std::tuple{500, 600}),
                         [](const auto& bounds) {
                           return std::to_string(std::get<0>(bounds.param)) + "_to_" +
                                  std::to_string(std::get<1>(bounds.param));
                         });

// The saving that a gain step reports equals the fall of the cost, facilities included, and the
// costs stay consistent.
TEST(GainStep, GainsWhatItSays) {
  const point_set set = random_points(300, 4);
  assignment points(3);
  gain_step step(points);
  std::vector<double> errors, gains;
  std::size_t centres_off = 0;
  on_all_ranks(3, [&](collectives& me) {
    const quanta one = points.begin(me, set);
    random_sequence random(3);
    double before = 0;
    for (int i = 0; i < 200; ++i) {
      const quanta z = one / static_cast<quanta>(2 + random.below(60));
      const std::size_t x = random.below(set.size());
      const amounts then = points.total(me);
      before = static_cast<double>(then[0]) + static_cast<double>(z) * static_cast<double>(then[1]);
      const auto verdict = step.try_to_open(me, x, z);
      const amounts now = points.total(me);
      if (!me.decides()) continue;
      const double after =
          static_cast<double>(now[0]) + static_cast<double>(z) * static_cast<double>(now[1]);
      errors.push_back(std::abs(before - after - verdict.gain) / before);
      gains.push_back(verdict.gain);
      centres_off += verdict.centres != static_cast<std::size_t>(now[1]) ? 1 : 0;
    }
  });
  EXPECT_LT(*std::max_element(errors.begin(), errors.end()), 1e-12);
  EXPECT_EQ(centres_off, 0U);
  EXPECT_GT(std::count_if(gains.begin(), gains.end(), [](double g) { return g > 0; }), 10);
  EXPECT_GT(std::count(gains.begin(), gains.end(), 0.0), 10);
}

TEST(GainStep, AtPriceZeroAnOpenPointIsNotCountedTwice) {
  const point_set set = random_points(70, 2);
  assignment points(2);
  gain_step step(points);
  on_all_ranks(2, [&](collectives& me) {
    points.begin(me, set);
    for (std::size_t x = 0; x < set.size(); ++x) {
      step.try_to_open(me, x, 0);
      const auto again = step.try_to_open(me, x, 0);
      const amounts all = points.total(me);
      EXPECT_EQ(again.gain, 0);
      EXPECT_EQ(again.centres, static_cast<std::size_t>(all[1]));
    }
  });
}

TEST(Means, AreThoseOfThePointsAndTakeTheirWeight) {
  const point_set set = random_points(300, 5);
  local_search search(2, 4, 6, 1);
  mean_step means;
  point_set kept(5);
  double cost = 0;
  on_all_ranks(2, [&](collectives& me) {
    ASSERT_TRUE(search.run(me, set));
    const double mine = means.run(me, search.points(), kept);
    if (me.decides()) cost = mine;
  });
  const assignment& a = search.points();
  double expected_cost = 0;
  for (std::size_t c = 0; c < kept.size(); ++c) {
    std::vector<double> sum(5);
    double weight = 0;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set.position(a.centre[i]) != kept.position(c)) continue;
      weight += set.weight(i);
      for (std::size_t j = 0; j < 5; ++j) {
        const double d = static_cast<double>(set.coordinate(i, j));
        sum[j] += set.weight(i) * d;
        const double off = d - static_cast<double>(kept.coordinate(c, j));
        expected_cost += set.weight(i) * off * off;
      }
    }
    EXPECT_EQ(kept.weight(c), weight);
    for (std::size_t j = 0; j < 5; ++j) {
      EXPECT_NEAR(static_cast<double>(kept.coordinate(c, j)), sum[j] / weight, 1e-6);
    }
  }
  EXPECT_EQ(kept.total_weight(), set.total_weight());
  EXPECT_NEAR(cost, expected_cost, 1e-4 * expected_cost);
}

TEST(Search, FewerPlacesThanCentresAreEnough) {
  for (const std::size_t places : {1U, 2U, 5U}) {
    point_set set(2);
    for (std::size_t i = 0; i < 200; ++i) {
      const float at = static_cast<float>(i % places);
      set.push(std::vector<float>{at, -at}, 1, i);
    }
    local_search search(2, 8, 10, 1);
    std::set<std::uint32_t> centres;
    on_all_ranks(2, [&](collectives& me) {
      ASSERT_TRUE(search.run(me, set));
      const amounts all = search.points().total(me);
      EXPECT_EQ(all[0], 0);
      EXPECT_EQ(all[1], static_cast<std::int64_t>(places));
    });
  }
}

TEST(Search, RefusesDistancesThatNoFloatHolds) {
  for (const float far : {3e38F, std::numeric_limits<float>::infinity(), std::nanf("")}) {
    point_set set = random_points(200, 2);
    set.push(std::vector<float>{far, 0}, 1, 200);
    local_search search(2, 2, 3, 1);
    on_all_ranks(2, [&](collectives& me) { EXPECT_FALSE(search.run(me, set)); });
  }
}

TEST(Search, HoldsCoordinatesOfAnySize) {
  for (const float scale : {1e-18F, 1e-6F, 1e6F, 1e18F}) {
    point_set set(1);
    for (std::size_t i = 0; i < 300; ++i) {
      const auto [cluster, within] = std::div(static_cast<int>(i), 100);
      set.push(std::vector<float>{scale * (static_cast<float>(cluster) +
                                           static_cast<float>(within) * 1e-3F)},
               1, i);
    }
    local_search search(2, 3, 3, 1);
    std::vector<std::uint32_t> servers;
    on_all_ranks(2, [&](collectives& me) { ASSERT_TRUE(search.run(me, set)); });
    for (std::size_t i = 0; i < 300; ++i) {
      EXPECT_EQ(search.points().centre[i] / 100, i / 100) << "scale " << scale;
    }
  }
}

TEST(Random, IsSplitMix64) {
  // These are the first numbers of Steele's reference for the seed 1234567.
  random_sequence random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
  EXPECT_EQ(random.next(), 9817491932198370423U);
}

}  // namespace
}  // namespace tutti::streamcluster
