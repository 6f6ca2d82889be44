// SPDX-License-Identifier: Apache-2.0
// Which centre serves which point, and at what cost: the state that the ranks share during a local
// search.
//
// Costs are whole numbers of quanta. The quantum is chosen for each set of points so that no sum
// can overflow. Sums are therefore exact, in any order and for any number of ranks, and so is every
// decision. A squared distance has the 24 bits of its float, and the largest possible sum has 60
// bits. So only in a set of a million points do those nearer than 2^-14 of the largest squared
// distance lose bits.
//
// A rank owns whole tiles, and writes only to its own points. All ranks together call the member
// functions that take the collectives. If a comment says that a function meets, it contains a
// barrier and gives every rank the same result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/streamcluster/collectives.hpp"
#include "workloads/streamcluster/point_set.hpp"

namespace tutti::streamcluster {

using quanta = std::int64_t;

// The values that a rank passes to the others, on cache lines of its own. It writes them before a
// barrier; the others read them after it.
struct alignas(128) desk {
  std::size_t centres = 0;
  double farthest_distance = 0;
  quanta highest_cost = 0;
  std::size_t dearest_point = 0;
  // One entry per centre; see gain.cpp.
  std::vector<quanta> dearer;
};

class assignment {
 public:
  explicit assignment(rank_t ranks) : desks(ranks) {}

  // Chooses the quantum and gives all points to point 0, the only centre. Meets. Returns the sum of
  // the costs, or -1 if a distance is not a number or four times it does not fit into a float.
  quanta begin(collectives& me, const point_set& set);

  const point_set& points() const noexcept { return *points_; }
  double quantum() const noexcept {
    return 1 / scale_;
    // The squared distance that a quantum stands for.
  }

  // The points that this rank owns.
  struct range {
    std::size_t begin, end;
  };
  range own(const collectives& me) const noexcept {
    const auto [begin, end] = me.block(points_->tiles());
    return {std::min(begin * tile_points, points_->size()),
            std::min(end * tile_points, points_->size())};
  }
  bool owns(const collectives& me, std::size_t x) const noexcept {
    const range mine = own(me);
    return x >= mine.begin && x < mine.end;
  }

  quanta price(std::size_t i, float squared_distance) const noexcept {
    return static_cast<quanta>(points_->weight(i) * static_cast<double>(squared_distance) * scale_);
  }

  // Calls visit(i, price) for each point i of this rank, where price is the cost of serving it from
  // point x.
  template <class Visit>
  void for_each_price(const collectives& me, std::size_t x, Visit visit) const;

  // Assigns all points of this rank to x, the only centre.
  void serve_all_from(const collectives& me, std::size_t x);
  // Opens x and assigns to it the points of this rank that it serves cheaper.
  void open_for_mine(const collectives& me, std::size_t x);
  // Makes every point a centre of its own.
  void open_all(const collectives& me);

  // Returns the sum of all costs, and the number of centres. Meets.
  amounts total(collectives& me) const;

  // Assigns each point to the nearest centre, the first of equals, and closes centres without
  // points. Meets. Returns the number of centres.
  std::size_t settle(collectives& me);
  // Closes the centre whose points another one takes over most cheaply. Meets. settle() must
  // follow.
  void merge(collectives& me);
  // Opens the point that costs most. Meets. Returns false if all cost nothing, that is, if there
  // are no more distinct places.
  bool split(collectives& me);

  // Returns the centres in the order of the points, and sets number[] to their places there. Meets.
  const std::vector<std::uint32_t>& list_centres(collectives& me);

  // For each point: the centre that serves it, the cost, whether it is a centre, and if so its
  // number.
  std::vector<std::uint32_t> centre;
  std::vector<quanta> cost;
  std::vector<std::uint8_t> open;
  std::vector<std::uint32_t> number;
  // One per rank.
  std::vector<desk> desks;

 private:
  void choose_quantum(double farthest) noexcept;

  const point_set* points_ = nullptr;
  // Quanta per unit of squared distance and weight; a power of two.
  double scale_ = 1;
  std::vector<std::uint32_t> list_;
};

template <class Visit>
void assignment::for_each_price(const collectives& me, std::size_t x, Visit visit) const {
  const std::size_t dimensions = points_->dimensions();
  std::vector<float> to(dimensions);
  points_->copy(x, to);
  alignas(tile_alignment) float distances[tile_points];
  const range mine = own(me);
  for (std::size_t first = mine.begin; first < mine.end; first += tile_points) {
    squared_distances(points_->tile(first / tile_points), dimensions, to.data(), distances);
    const std::size_t last = std::min(first + tile_points, mine.end);
    for (std::size_t i = first; i < last; ++i) visit(i, price(i, distances[i - first]));
  }
}

}  // namespace tutti::streamcluster
