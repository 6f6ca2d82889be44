// SPDX-License-Identifier: Apache-2.0
// Clusterings to compare with, written for clarity: brute force, k-means++ with Lloyd's iteration,
// and all subsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "workloads/streamcluster/random.hpp"

namespace tutti::streamcluster::reference {

struct matrix {
  std::size_t dimensions = 0;
  std::vector<float> numbers;

  std::size_t rows() const { return numbers.size() / dimensions; }
  std::span<const float> row(std::size_t i) const {
    return std::span(numbers).subspan(i * dimensions, dimensions);
  }
};

inline double square(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    const double d = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    sum += d * d;
  }
  return sum;
}

inline std::size_t nearest(const matrix& centres, std::span<const float> point) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < centres.rows(); ++c) {
    if (square(centres.row(c), point) < square(centres.row(best), point)) best = c;
  }
  return best;
}

// The sum of the squared distances of the points from their nearest centres.
inline double cost(const matrix& points, const matrix& centres) {
  double sum = 0;
  for (std::size_t i = 0; i < points.rows(); ++i) {
    sum += square(points.row(i), centres.row(nearest(centres, points.row(i))));
  }
  return sum;
}

inline matrix seed_plus_plus(const matrix& points, std::size_t k, random_sequence& random) {
  matrix centres{points.dimensions, {}};
  const auto add = [&](std::size_t i) {
    const auto row = points.row(i);
    centres.numbers.insert(centres.numbers.end(), row.begin(), row.end());
  };
  add(random.below(points.rows()));
  while (centres.rows() < k) {
    double rest = random.unit() * cost(points, centres);
    std::size_t i = 0;
    for (; i + 1 < points.rows(); ++i) {
      rest -= square(points.row(i), centres.row(nearest(centres, points.row(i))));
      if (rest < 0) break;
    }
    add(i);
  }
  return centres;
}

inline matrix lloyd_step(const matrix& points, const matrix& centres) {
  std::vector<double> sums(centres.numbers.size());
  std::vector<double> counts(centres.rows());
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const std::size_t c = nearest(centres, points.row(i));
    counts[c] += 1;
    for (std::size_t j = 0; j < points.dimensions; ++j) {
      sums[c * points.dimensions + j] += static_cast<double>(points.row(i)[j]);
    }
  }
  matrix next = centres;
  for (std::size_t e = 0; e < sums.size(); ++e) {
    const double count = counts[e / points.dimensions];
    if (count > 0) next.numbers[e] = static_cast<float>(sums[e] / count);
  }
  return next;
}

// The least cost of several attempts.
inline double k_means(const matrix& points, std::size_t k, int attempts) {
  random_sequence random(99);
  double best = std::numeric_limits<double>::infinity();
  for (int a = 0; a < attempts; ++a) {
    matrix centres = seed_plus_plus(points, k, random);
    for (int step = 0; step < 10; ++step) centres = lloyd_step(points, centres);
    best = std::min(best, cost(points, centres));
  }
  return best;
}

// The least cost with k of the points as centres, found by trying all subsets.
inline double best_medians(const matrix& points, std::size_t k) {
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t subset = 0; subset < 1U << points.rows(); ++subset) {
    if (static_cast<std::size_t>(__builtin_popcount(subset)) != k) continue;
    matrix centres{points.dimensions, {}};
    for (std::size_t i = 0; i < points.rows(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      const auto row = points.row(i);
      centres.numbers.insert(centres.numbers.end(), row.begin(), row.end());
    }
    best = std::min(best, cost(points, centres));
  }
  return best;
}

// `each` points about each of `clusters` corners of a cube, at most `radius` away in each
// coordinate, in random order.
inline matrix blobs(std::size_t clusters, std::size_t each, std::size_t dimensions, float radius,
                    std::uint64_t seed) {
  random_sequence random(seed);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < clusters * each; ++i) order.push_back(i % clusters);
  random.shuffle(order);
  matrix points{dimensions, {}};
  for (const std::size_t cluster : order) {
    for (std::size_t j = 0; j < dimensions; ++j) {
      const auto corner = static_cast<float>(cluster >> j & 1);
      points.numbers.push_back(corner + radius * static_cast<float>(2 * random.unit() - 1));
    }
  }
  return points;
}

inline matrix uniform(std::size_t count, std::size_t dimensions, std::uint64_t seed) {
  random_sequence random(seed);
  matrix points{dimensions, std::vector<float>(count * dimensions)};
  for (float& x : points.numbers) x = static_cast<float>(random.unit());
  return points;
}

}  // namespace tutti::streamcluster::reference
