// SPDX-License-Identifier: Apache-2.0
// The kernel of StreamCluster, the workload of Hetland et al. 2019, in a fixed size and in whole
// numbers, so that its result is the same to the last bit for any number of ranks. It has the
// phases of workloads/streamcluster/gain.hpp: each step decides whether opening one more centre
// pays, and ends five times at a barrier. The program of the machine and the harness, which
// computes the result anew with one rank, include it.
#pragma once

#include <cstdint>

namespace tutti::rtl {

class gain_steps {
 public:
  static constexpr std::uint32_t points = 256, dimensions = 8, most_ranks = 64;
  // The price of a centre.
  static constexpr std::int32_t z = 60'000;

  // Makes the points and serves all from point 0. One rank calls it.
  void begin() noexcept {
    std::uint32_t x = 12345;
    for (std::uint32_t i = 0; i < points; ++i) {
      // Eight clusters.
      const std::int32_t around = static_cast<std::int32_t>(i % 8) * 24 - 84;
      for (std::uint32_t j = 0; j < dimensions; ++j) {
        x = x * 1664525u + 1013904223u;
        coordinate_[i][j] = around + static_cast<std::int32_t>(x >> 28) - 8;
      }
      state_[i] = {0, price(i, 0), i == 0, 0};
    }
    verdict_ = 0;
    gains_ = 0;
  }

  // All ranks call it together; meet() is the barrier among them.
  template <class Meet>
  void try_to_open(std::uint32_t rank, std::uint32_t ranks, std::uint32_t x, Meet meet) noexcept {
    const std::uint32_t first = points * rank / ranks, end = points * (rank + 1) / ranks;
    desk& mine = desks_[rank];

    // Count my centres, which belong to the rank that owns their point.
    mine.centres = 0;
    for (std::uint32_t i = first; i < end; ++i) mine.centres += state_[i].open;
    meet();

    // Number them.
    std::uint32_t all = 0, next = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) {
      if (r == rank) next = all;
      all += desks_[r].centres;
    }
    for (std::uint32_t i = first; i < end; ++i)
      if (state_[i].open != 0) state_[i].number = next++;
    for (std::uint32_t c = 0; c < all; ++c) mine.dearer[c] = 0;
    meet();

    // Price my points from x: what those gain that it serves cheaper, and for each centre what its
    // other points would pay in addition if it closed.
    mine.change = 0;
    mine.closing = 0;
    for (std::uint32_t i = first; i < end; ++i) {
      const std::int32_t difference = price(i, x) - state_[i].cost;
      if (difference < 0)
        mine.change += difference;
      else
        mine.dearer[state_[state_[i].centre].number] += difference;
    }
    meet();

    // For my share of the centres: those that are not worth their price any more close.
    for (std::uint32_t c = all * rank / ranks; c < all * (rank + 1) / ranks; ++c) {
      std::int32_t dearer = 0;
      for (std::uint32_t r = 0; r < ranks; ++r) dearer += desks_[r].dearer[c];
      closes_[c] = dearer < z;
      if (closes_[c] == 0) continue;
      mine.change += dearer;
      ++mine.closing;
    }
    meet();

    // One rank decides.
    if (rank == 0) {
      std::int32_t change = 0, closing = 0;
      for (std::uint32_t r = 0; r < ranks; ++r) {
        change += desks_[r].change;
        closing += desks_[r].closing;
      }
      const bool stays = state_[x].open != 0 && closes_[state_[x].number] == 0;
      verdict_ = (closing - (stays ? 0 : 1)) * z - change > 0;
      gains_ += verdict_;
    }
    meet();

    // Carry it out on my points.
    if (verdict_ == 0) return;
    for (std::uint32_t i = first; i < end; ++i) {
      state& at = state_[i];
      const std::int32_t from_x = price(i, x);
      // The number of the centre that served it is read before any rank numbers anew, which is
      // after the next barrier.
      const bool is_orphan = closes_[number_of_centre(i)] != 0;
      if (at.open != 0 && closes_[at.number] != 0) at.open = 0;
      if (from_x >= at.cost && !is_orphan) continue;
      at.centre = x;
      at.cost = from_x;
    }
    if (x >= first && x < end) state_[x].open = 1;
  }

  std::uint32_t gains() const noexcept { return gains_; }

  // A hash of the clustering. One rank calls it when all have met.
  std::uint32_t fingerprint() const noexcept {
    std::uint32_t hash = 2166136261u;
    for (const state& at : state_) {
      hash = (hash ^ at.centre) * 16777619u;
      hash = (hash ^ static_cast<std::uint32_t>(at.cost)) * 16777619u;
      hash = (hash ^ at.open) * 16777619u;
    }
    return hash;
  }

  // The candidate of a step.
  static constexpr std::uint32_t candidate(std::uint32_t step) noexcept {
    return (step * 97 + 13) % points;
  }

 private:
  // Four to a cache line.
  struct alignas(16) state {
    std::uint32_t centre;
    std::int32_t cost;
    std::uint32_t open;
    std::uint32_t number;
  };
  struct alignas(128) desk {
    std::uint32_t centres;
    std::int32_t change, closing;
    std::int32_t dearer[points];
  };

  std::int32_t price(std::uint32_t i, std::uint32_t x) const noexcept {
    std::int32_t sum = 0;
    for (std::uint32_t j = 0; j < dimensions; ++j) {
      const std::int32_t d = coordinate_[i][j] - coordinate_[x][j];
      sum += d * d;
    }
    return sum;
  }
  std::uint32_t number_of_centre(std::uint32_t i) const noexcept {
    return state_[state_[i].centre].number;
  }

  alignas(128) std::int32_t coordinate_[points][dimensions];
  alignas(128) state state_[points];
  alignas(128) desk desks_[most_ranks];
  alignas(128) std::uint32_t closes_[points];
  alignas(128) std::uint32_t verdict_;
  std::uint32_t gains_;
};

}  // namespace tutti::rtl
