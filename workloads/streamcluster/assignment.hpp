// SPDX-License-Identifier: Apache-2.0
// Which point is served by which centre, at what cost: what the ranks share during a local search.
//
// Costs are whole numbers of quanta, the quantum chosen for each set of points so that no sum can overflow. Sums are
// therefore exact, in any order and for any number of ranks, and with them every decision. A squared distance has the
// 24 bits of its float; the largest possible sum has 60 bits. So only in a set of a million points do those nearer
// than 2^-14 of the largest squared distance lose bits.
//
// A rank owns whole tiles, and writes only to its own points. All member functions that take the meeting point are
// called by all ranks together; those that are said to meet give everybody the same result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "streamcluster/meeting.hpp"
#include "streamcluster/point_set.hpp"

namespace tutti::streamcluster {

using quanta = std::int64_t;

// What a rank tells the others, on lines of its own; written before a meeting, read after it.
struct alignas(128) desk {
  std::size_t centres = 0;
  double farthest_distance = 0;
  quanta highest_cost = 0;
  std::size_t dearest_point = 0;
  std::vector<quanta> dearer;  // of each centre: see gain.cpp
};

class assignment {
 public:
  explicit assignment(rank_t ranks) : desks(ranks) {}

  // Chooses the quantum and gives all points to point 0, the only centre. Meets; returns the sum of the costs, or -1
  // if a distance is not a number or so large that a float cannot hold four times it.
  quanta begin(meeting_point& me, const point_set& set);

  const point_set& points() const noexcept { return *points_; }
  double quantum() const noexcept {
    return 1 / scale_;
  }  // the squared distance that a quantum stands for

  // The points that I own.
  struct range {
    std::size_t begin, end;
  };
  range own(const meeting_point& me) const noexcept {
    const auto [begin, end] = me.block(points_->tiles());
    return {std::min(begin * tile_points, points_->size()),
            std::min(end * tile_points, points_->size())};
  }
  bool owns(const meeting_point& me, std::size_t x) const noexcept {
    const range mine = own(me);
    return x >= mine.begin && x < mine.end;
  }

  quanta price(std::size_t i, float squared_distance) const noexcept {
    return static_cast<quanta>(points_->weight(i) * static_cast<double>(squared_distance) * scale_);
  }

  // visit(i, price) for each of my points i, the price being what it would cost to serve it from point x.
  template <class Visit>
  void for_each_price(const meeting_point& me, std::size_t x, Visit visit) const;

  // All my points to x, the only centre.
  void serve_all_from(const meeting_point& me, std::size_t x);
  // Opens x and gives it my points that it serves cheaper.
  void open_for_mine(const meeting_point& me, std::size_t x);
  // Every point a centre of its own.
  void open_all(const meeting_point& me);

  // Meets: the sum of all costs, and the number of centres.
  amounts total(meeting_point& me) const;

  // Gives each point to the nearest centre, the first of equals, and closes those that are left without any. Meets;
  // returns the number of centres.
  std::size_t settle(meeting_point& me);
  // Closes the centre whose points another one takes over most cheaply. Meets; settle() must follow.
  void merge(meeting_point& me);
  // Opens the point that costs most. Meets; false if all cost nothing, that is, if there are no more places.
  bool split(meeting_point& me);

  // The centres in the order of the points, and in number[] their places there. Meets.
  const std::vector<std::uint32_t>& list_centres(meeting_point& me);

  // Of each point: the centre that serves it, the cost, whether it is a centre, and if so its number.
  std::vector<std::uint32_t> centre;
  std::vector<quanta> cost;
  std::vector<std::uint8_t> open;
  std::vector<std::uint32_t> number;
  std::vector<desk> desks;  // one a rank

 private:
  void choose_quantum(double farthest) noexcept;

  const point_set* points_ = nullptr;
  double scale_ = 1;  // quanta a unit of squared distance and weight; a power of two
  std::vector<std::uint32_t> list_;
};

template <class Visit>
void assignment::for_each_price(const meeting_point& me, std::size_t x, Visit visit) const {
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
