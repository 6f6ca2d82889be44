// SPDX-License-Identifier: Apache-2.0
// StreamCluster: clusters a stream of points that is read once, a chunk at a time, and keeps only
// weighted centres.
//
//   tutti::team team(4);
//   auto points = streamcluster::open_points("points.npy");
//   const auto found = streamcluster::cluster(team, *points, {.k_min = 10, .k_max = 20});
//
// The result depends on the points, the options and the seed. It does not depend on the number of
// threads or ranks, the barrier, the wait policy, or the instruction set.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/streamcluster/collectives.hpp"
#include "workloads/streamcluster/local_search.hpp"
#include "workloads/streamcluster/sources.hpp"

namespace tutti::streamcluster {

struct options {
  // The least number of centres (fewer are found only if the points are at fewer places).
  std::size_t k_min = 10;
  // The largest number of centres.
  std::size_t k_max = 20;
  // Points in memory at a time.
  std::size_t chunk = 16384;
  // Centres of chunks that are kept before they are clustered themselves; at least 2 k_max.
  std::size_t limit = 1000;
  // The seed of the local search.
  std::uint64_t seed = 1;
  collectives_kind collectives = collectives_kind::team;
  // Called after each chunk.
  std::function<void(std::uint64_t points)> on_progress = {};
};

struct statistics {
  std::uint64_t points = 0;
  // How often the kept centres reached the limit.
  std::uint64_t condensations = 0;
  search_counts search;
  // Regions of the team: one per chunk, and one per search of the kept centres.
  std::uint64_t regions = 0;
  std::uint64_t barriers = 0;
  std::uint64_t reductions = 0;
  // One thread reads, between the regions.
  double read_seconds = 0;
  // The total time.
  double seconds = 0;
};

struct clustering {
  std::size_t dimensions = 0;
  // Row by row.
  std::vector<float> coordinates;
  // The number of points that each centre stands for.
  std::vector<double> weights;
  // The position in the stream, from 0, of a point chosen near the centre.
  std::vector<std::uint64_t> positions;
  // The sum of the squared distances of the points from the centres that stand for them. It is an
  // upper bound of the sum from the nearest centres, which would need a second pass over the
  // points.
  double cost = 0;
  statistics counts;

  std::size_t size() const noexcept { return weights.size(); }
  std::span<const float> centre(std::size_t c) const noexcept {
    return {coordinates.data() + c * dimensions, dimensions};
  }
};

// Opens one region of the team per chunk, with barriers inside.
// Throws std::invalid_argument for options that contradict each other, for a source without points,
// and for a third-party barrier on a team with more ranks than threads. Throws std::runtime_error
// for points too far apart for a float, and whatever the source throws.
clustering cluster(team& ranks, source& points, const options& how = {});
// The same on other ranks, such as ranks_of(team) of a team on another platform, with their own
// collectives.
clustering cluster(const rank_group& ranks, source& points, const options& how = {});

// A hash of all bits of the centres, weights and positions (64-bit FNV-1a): equal for equal
// results.
std::uint64_t fingerprint(const clustering& found) noexcept;

// The original's inputs, by name.
struct named_input {
  std::string_view name;
  std::uint64_t points;
  std::size_t dimensions;
  std::size_t k_min, k_max, chunk, limit;
};
std::span<const named_input> named_inputs() noexcept;

}  // namespace tutti::streamcluster
