// SPDX-License-Identifier: Apache-2.0
// Tests whole clusterings: whether they are right, how good they are, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>

#include "workloads/streamcluster/streamcluster.hpp"
#include "workloads/streamcluster/tests/reference.hpp"

namespace tutti::streamcluster {
namespace {

using reference::matrix;

clustering cluster_rows(const matrix& points, const options& how, rank_t threads = 2) {
  team ranks(threads);
  const auto source = rows(points.numbers, points.dimensions);
  return cluster(ranks, *source, how);
}

matrix centres_of(const clustering& found) { return {found.dimensions, found.coordinates}; }

options with(std::size_t k_min, std::size_t k_max, std::size_t chunk = 16384,
             std::size_t limit = 1000) {
  return {.k_min = k_min, .k_max = k_max, .chunk = chunk, .limit = limit};
}

void expect_consistent(const clustering& found, const matrix& points, const options& how) {
  EXPECT_GE(found.size(), how.k_min);
  EXPECT_LE(found.size(), how.k_max);
  EXPECT_EQ(found.coordinates.size(), found.size() * points.dimensions);
  EXPECT_EQ(std::accumulate(found.weights.begin(), found.weights.end(), 0.0),
            static_cast<double>(points.rows()));
  EXPECT_GT(*std::min_element(found.weights.begin(), found.weights.end()), 0);
  const std::set<std::uint64_t> positions(found.positions.begin(), found.positions.end());
  EXPECT_EQ(positions.size(), found.size());
  EXPECT_LT(*positions.rbegin(), points.rows());
  EXPECT_EQ(found.counts.points, points.rows());
  // The centre that stands for a point is not always the nearest one, which cannot cost more.
  EXPECT_LE(reference::cost(points, centres_of(found)), found.cost * (1 + 1e-6));
}

TEST(Clustering, OfOneChunkIsConsistentAndItsCostIsThatOfTheNearestCentres) {
  const matrix points = reference::uniform(2000, 6, 1);
  const options how = with(10, 20);
  const clustering found = cluster_rows(points, how);
  expect_consistent(found, points, how);
  EXPECT_EQ(found.counts.regions, 2U);
  EXPECT_NEAR(reference::cost(points, centres_of(found)), found.cost, 0.1 * found.cost);
}

TEST(Clustering, OfManyChunksIsConsistent) {
  const matrix points = reference::uniform(3001, 4, 2);
  const options how = with(5, 8, 500);
  const clustering found = cluster_rows(points, how);
  expect_consistent(found, points, how);
  EXPECT_EQ(found.counts.regions, 8U);
  EXPECT_EQ(found.counts.condensations, 0U);
}

TEST(Clustering, CondensesTheCentresThatItKeepsWhenTheyReachTheLimit) {
  const matrix points = reference::uniform(3000, 3, 3);
  const options how = with(5, 8, 200, 24);
  const clustering found = cluster_rows(points, how);
  expect_consistent(found, points, how);
  EXPECT_GT(found.counts.condensations, 2U);
}

// The number of centres is exactly that of the clusters, each cluster is found, and no point is
// assigned to another's centre.
TEST(Clustering, FindsSeparatedClusters) {
  constexpr std::size_t clusters = 8, each = 150, dimensions = 5;
  const matrix points = reference::blobs(clusters, each, dimensions, 0.1F, 4);
  for (const std::size_t chunk : {2000U, 300U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      options how = with(clusters, clusters, chunk);
      how.seed = seed;
      const clustering found = cluster_rows(points, how);
      expect_consistent(found, points, how);
      std::set<std::size_t> corners;
      for (std::size_t c = 0; c < found.size(); ++c) {
        EXPECT_EQ(found.weights[c], each);
        std::size_t corner = 0;
        for (std::size_t j = 0; j < dimensions; ++j) {
          const float x = found.centre(c)[j];
          EXPECT_NEAR(x, std::round(x), 0.03) << "the mean of a cluster is near its corner";
          corner |= static_cast<std::size_t>(std::lround(x)) << j;
        }
        corners.insert(corner);
      }
      EXPECT_EQ(corners.size(), clusters) << "chunk " << chunk << ", seed " << seed;
    }
  }
}

TEST(Clustering, IsNotMuchWorseThanKMeans) {
  const matrix overlapping = reference::blobs(8, 100, 3, 0.6F, 5);
  const matrix uniform = reference::uniform(800, 3, 6);
  for (const matrix* points : {&overlapping, &uniform}) {
    const double best = reference::k_means(*points, 8, 5);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      options how = with(8, 8);
      how.seed = seed;
      const clustering found = cluster_rows(*points, how);
      EXPECT_LT(reference::cost(*points, centres_of(found)), 1.2 * best) << "seed " << seed;
    }
  }
}

// The result is as good as the best of all subsets of the points in most cases, and never far from
// it.
TEST(Clustering, OfFewPointsIsNearlyTheBest) {
  int optimal = 0;
  constexpr int cases = 30;
  for (int i = 0; i < cases; ++i) {
    const matrix points = reference::uniform(12, 2, 100 + static_cast<std::uint64_t>(i));
    point_set set(2);
    for (std::size_t p = 0; p < points.rows(); ++p) set.push(points.row(p), 1, p);
    local_search search(2, 3, 3, static_cast<std::uint64_t>(i));
    team ranks(2);
    double found = 0;
    ranks_of(ranks, collectives_kind::team).run([&](collectives& me) {
      ASSERT_TRUE(search.run(me, set));
      const auto total = static_cast<double>(search.points().total(me)[0]);
      if (me.decides()) found = total * search.points().quantum();
    });
    const double best = reference::best_medians(points, 3);
    EXPECT_LE(found, 2 * best) << "case " << i;
    EXPECT_GE(found, best * (1 - 1e-6)) << "case " << i;
    optimal += found <= best * (1 + 1e-6) ? 1 : 0;
  }
  EXPECT_GE(optimal, cases / 2);
}

TEST(Clustering, OfFewPointsKeepsThemAll) {
  const matrix points = reference::uniform(7, 3, 7);
  const clustering found = cluster_rows(points, with(10, 20));
  EXPECT_EQ(found.size(), 7U);
  EXPECT_EQ(found.coordinates, points.numbers);
  EXPECT_EQ(found.cost, 0);
}

TEST(Clustering, CountsItsBarriers) {
  const clustering found = cluster_rows(reference::uniform(1000, 4, 8), with(5, 8));
  const statistics& counts = found.counts;
  EXPECT_GT(counts.search.gain_steps, 50U);
  EXPECT_GT(counts.search.gains, 0U);
  EXPECT_GE(counts.barriers, 4 * counts.search.gain_steps);
  EXPECT_GE(counts.reductions, counts.search.gain_steps);
  EXPECT_GT(counts.seconds, 0);
}

struct wrong_options {
  const char* name;
  options how;
  const char* sentence;
};

class WrongOptions : public testing::TestWithParam<wrong_options> {};

TEST_P(WrongOptions, AreRefusedInOneSentence) {
  const matrix points = reference::uniform(100, 2, 1);
  try {
    cluster_rows(points, GetParam().how);
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), GetParam().sentence);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Clustering, WrongOptions,
    testing::Values(
        wrong_options{"NoCentres", with(0, 20), "k_min is 0: at least one centre is needed"},
        wrong_options{"BoundsCross", with(30, 20), "k_min (30) is greater than k_max (20)"},
        wrong_options{"SmallChunk", with(10, 20, 20),
                      "a chunk of 20 points is not more than k_max (20)"},
        wrong_options{"HugeChunk", with(10, 20, std::size_t{1} << 32),
                      "a chunk of 4294967296 points is more than 4294967295"},
        wrong_options{"SmallLimit", with(10, 20, 100, 39),
                      "the limit of 39 centres is less than twice k_max (20)"}),
    [](const auto& each) { return each.param.name; });

TEST(Clustering, RefusesASourceWithoutPoints) {
  team ranks(2);
  const auto nothing = generate(0, 3, 1);
  EXPECT_THROW(cluster(ranks, *nothing), std::invalid_argument);
  EXPECT_THROW(generate(5, 0, 1), std::invalid_argument);
  const std::vector<float> ragged(7);
  EXPECT_THROW(rows(ragged, 3), std::invalid_argument);
}

TEST(Clustering, RefusesPointsTooFarApart) {
  matrix points = reference::uniform(100, 2, 1);
  points.numbers[50] = 3e38F;
  EXPECT_THROW(cluster_rows(points, with(2, 3)), std::runtime_error);
}

TEST(Clustering, RefusesAForeignBarrierForMoreRanksThanThreads) {
  team_options o;
  o.threads = 2;
  o.ranks = 3;
  team ranks(o);
  options how = with(2, 3);
  for (const collectives_kind kind : {collectives_kind::pthread, collectives_kind::standard}) {
    how.collectives = kind;
    const auto points = generate(100, 2, 1);
    EXPECT_THROW(cluster(ranks, *points, how), std::invalid_argument);
  }
}

// A source that fails in the second chunk.
class failing_source final : public source {
 public:
  std::size_t dimensions() const override { return 2; }
  bool next(std::span<float> point) override {
    if (++read_ > 150) throw std::runtime_error("the tape is torn");
    point[0] = point[1] = static_cast<float>(read_);
    return true;
  }

 private:
  int read_ = 0;
};

TEST(Clustering, HandsOnTheErrorOfASourceAndLeavesTheTeamUsable) {
  team ranks(2);
  failing_source torn;
  EXPECT_THROW(cluster(ranks, torn, with(2, 3, 100)), std::runtime_error);
  const auto points = generate(200, 2, 1);
  EXPECT_EQ(cluster(ranks, *points, with(3, 3, 100)).size(), 3U);
}

}  // namespace
}  // namespace tutti::streamcluster
