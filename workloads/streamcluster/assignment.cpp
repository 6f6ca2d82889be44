// SPDX-License-Identifier: Apache-2.0
// Assigns points to centres.
#include "workloads/streamcluster/assignment.hpp"

#include <cmath>
#include <limits>

namespace tutti::streamcluster {
namespace {

constexpr quanta no_quanta = -1;
constexpr int bits_of_a_sum = 60;

}  // namespace

// By the triangle inequality no two points are more than twice as far apart as the farthest point
// is from point 0; in squared distances this is a factor of four.
void assignment::choose_quantum(double farthest) noexcept {
  const double largest_sum = points_->total_weight() * 4 * farthest;
  scale_ = largest_sum > 0 ? std::ldexp(1.0, bits_of_a_sum - 1 - std::ilogb(largest_sum)) : 1;
}

quanta assignment::begin(collectives& me, const point_set& set) {
  if (me.decides()) {
    points_ = &set;
    scale_ = 1;
    centre.resize(set.size());
    cost.resize(set.size());
    open.resize(set.size());
    number.resize(set.size());
  }
  me.barrier();

  double farthest = 0;
  std::vector<float> to(set.dimensions());
  set.copy(0, to);
  alignas(tile_alignment) float distances[tile_points];
  const range mine = own(me);
  for (std::size_t first = mine.begin; first < mine.end; first += tile_points) {
    squared_distances(set.tile(first / tile_points), set.dimensions(), to.data(), distances);
    const std::size_t count = std::min(tile_points, mine.end - first);
    // std::max would lose a NaN, which must stay.
    for (std::size_t i = 0; i < count; ++i) {
      if (!(distances[i] <= farthest)) farthest = static_cast<double>(distances[i]);
      if (std::isnan(farthest)) break;
    }
  }
  desks[me.rank()].farthest_distance = farthest;
  me.barrier();
  bool usable = true;
  for (const desk& d : desks) {
    usable = usable && d.farthest_distance <= std::numeric_limits<float>::max() / 4;
    farthest = std::max(farthest, d.farthest_distance);
  }
  if (me.decides() && usable) choose_quantum(farthest);
  me.barrier();
  if (!usable) return no_quanta;
  serve_all_from(me, 0);
  return total(me)[0];
}

void assignment::serve_all_from(const collectives& me, std::size_t x) {
  for_each_price(me, x, [&](std::size_t i, quanta price) {
    centre[i] = static_cast<std::uint32_t>(x);
    cost[i] = price;
    open[i] = i == x;
  });
}

void assignment::open_for_mine(const collectives& me, std::size_t x) {
  for_each_price(me, x, [&](std::size_t i, quanta price) {
    if (price >= cost[i]) return;
    centre[i] = static_cast<std::uint32_t>(x);
    cost[i] = price;
  });
  if (owns(me, x)) open[x] = 1;
}

void assignment::open_all(const collectives& me) {
  const range mine = own(me);
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    centre[i] = static_cast<std::uint32_t>(i);
    cost[i] = 0;
    open[i] = 1;
  }
}

amounts assignment::total(collectives& me) const {
  amounts mine{};
  const range all = own(me);
  for (std::size_t i = all.begin; i < all.end; ++i) {
    mine[0] += cost[i];
    mine[1] += open[i];
  }
  return me.sum(mine);
}

const std::vector<std::uint32_t>& assignment::list_centres(collectives& me) {
  if (me.decides()) {
    list_.clear();
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] == 0) continue;
      number[i] = static_cast<std::uint32_t>(list_.size());
      list_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  me.barrier();
  return list_;
}

std::size_t assignment::settle(collectives& me) {
  const auto& centres = list_centres(me);
  const range mine = own(me);
  std::fill(cost.begin() + static_cast<std::ptrdiff_t>(mine.begin),
            cost.begin() + static_cast<std::ptrdiff_t>(mine.end),
            std::numeric_limits<quanta>::max());
  for (const std::uint32_t x : centres) {
    for_each_price(me, x, [&](std::size_t i, quanta price) {
      if (price >= cost[i]) return;
      centre[i] = x;
      cost[i] = price;
    });
  }
  // A centre at the same place as an earlier one serves no point, not even itself.
  for (std::size_t i = mine.begin; i < mine.end; ++i) open[i] = open[i] != 0 && centre[i] == i;
  return static_cast<std::size_t>(total(me)[1]);
}

void assignment::merge(collectives& me) {
  const auto& centres = list_centres(me);
  if (me.decides()) {
    std::vector<double> weights(centres.size());
    for (std::size_t i = 0; i < centre.size(); ++i)
      weights[number[centre[i]]] += points_->weight(i);
    std::size_t cheapest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < centres.size(); ++a) {
      for (std::size_t b = 0; b < centres.size(); ++b) {
        if (a == b) continue;
        double distance = 0;
        for (std::size_t j = 0; j < points_->dimensions(); ++j) {
          const double d = static_cast<double>(points_->coordinate(centres[a], j)) -
                           static_cast<double>(points_->coordinate(centres[b], j));
          distance += d * d;
        }
        if (weights[a] * distance >= least) continue;
        least = weights[a] * distance;
        cheapest = a;
      }
    }
    open[centres[cheapest]] = 0;
  }
  me.barrier();
}

bool assignment::split(collectives& me) {
  desk& mine = desks[me.rank()];
  mine.highest_cost = 0;
  const range all = own(me);
  for (std::size_t i = all.begin; i < all.end; ++i) {
    if (cost[i] <= mine.highest_cost) continue;
    mine.highest_cost = cost[i];
    mine.dearest_point = i;
  }
  me.barrier();
  const desk* dearest = &desks[0];
  for (const desk& d : desks) {
    if (d.highest_cost > dearest->highest_cost) dearest = &d;
  }
  const bool found = dearest->highest_cost > 0;
  if (found) open_for_mine(me, dearest->dearest_point);
  me.barrier();
  return found;
}

}  // namespace tutti::streamcluster
