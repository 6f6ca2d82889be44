// SPDX-License-Identifier: Apache-2.0
// Computes the means of clusters.
#include "workloads/streamcluster/means.hpp"

#include <algorithm>

namespace tutti::streamcluster {

double mean_step::run(collectives& me, assignment& points, point_set& kept) {
  const auto& centres = points.list_centres(me);
  const point_set& set = points.points();
  const std::size_t dimensions = set.dimensions();
  if (me.decides()) {
    weights_.assign(centres.size(), 0);
    means_.resize(centres.size() * dimensions);
    for (std::size_t i = 0; i < set.size(); ++i) {
      weights_[points.number[points.centre[i]]] += set.weight(i);
    }
  }
  me.barrier();

  std::vector<double> sums(centres.size());
  const auto [begin, end] = me.block(dimensions);
  for (std::size_t j = begin; j < end; ++j) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t i = 0; i < set.size(); ++i) {
      sums[points.number[points.centre[i]]] +=
          set.weight(i) * static_cast<double>(set.coordinate(i, j));
    }
    for (std::size_t c = 0; c < centres.size(); ++c) {
      means_[c * dimensions + j] = static_cast<float>(sums[c] / weights_[c]);
    }
  }
  const double from_centres = static_cast<double>(points.total(me)[0]) * points.quantum();

  // By Huygens' theorem the sum of squares about a centre is that about the mean plus the weight
  // times the squared distance between the two.
  double moved = 0;
  if (me.decides()) {
    for (std::size_t c = 0; c < centres.size(); ++c) {
      const std::span<const float> mean(means_.data() + c * dimensions, dimensions);
      double square = 0;
      for (std::size_t j = 0; j < dimensions; ++j) {
        const double d =
            static_cast<double>(set.coordinate(centres[c], j)) - static_cast<double>(mean[j]);
        square += d * d;
      }
      moved += weights_[c] * square;
      kept.push(mean, weights_[c], set.position(centres[c]));
    }
  }
  me.barrier();
  return std::max(0.0, from_centres - moved);
}

}  // namespace tutti::streamcluster
