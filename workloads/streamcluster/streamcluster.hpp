// SPDX-License-Identifier: Apache-2.0
// StreamCluster: clusters a stream of points, seen once, a chunk at a time, and keeps only weighted centres.
//
//   tutti::team team(4);
//   auto points = streamcluster::open_points("points.npy");
//   const auto found = streamcluster::cluster(team, *points, {.k_min = 10, .k_max = 20});
//
// The result depends on the points, the options and the seed; not on the number of threads or ranks, the barrier, how
// one waits, or the instruction set.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "streamcluster/local_search.hpp"
#include "streamcluster/meeting.hpp"
#include "streamcluster/sources.hpp"

namespace tutti::streamcluster {

struct options {
  std::size_t k_min =
      10;  // centres to find, at least (fewer only if the points are at fewer places)
  std::size_t k_max = 20;     // and at most
  std::size_t chunk = 16384;  // points in memory at a time
  std::size_t limit =
      1000;  // centres kept of the chunks before they are clustered themselves; at least 2 k_max
  std::uint64_t seed = 1;  // of the local search
  meeting_kind meeting = meeting_kind::team;
  std::function<void(std::uint64_t points)> on_progress = {};  // called after each chunk
};

struct statistics {
  std::uint64_t points = 0;
  std::uint64_t condensations = 0;  // times that the centres kept reached the limit
  search_counts search;
  std::uint64_t regions = 0;  // of the team: a chunk or the centres kept, each
  std::uint64_t barriers = 0;
  std::uint64_t reductions = 0;
  double read_seconds = 0;  // one thread reads, between the regions
  double seconds = 0;       // all of it
};

struct clustering {
  std::size_t dimensions = 0;
  std::vector<float> coordinates;        // row by row
  std::vector<double> weights;           // points that each centre stands for
  std::vector<std::uint64_t> positions;  // in the stream, from 0, of a point chosen near it
  // Sum of the squared distances of the points from the centres that stand for them. It is an upper bound of that
  // from the nearest centres, which only a second pass over the points could tell.
  double cost = 0;
  statistics counts;

  std::size_t size() const noexcept { return weights.size(); }
  std::span<const float> centre(std::size_t c) const noexcept {
    return {coordinates.data() + c * dimensions, dimensions};
  }
};

// One region of the team for each chunk, with barriers inside.
// Throws std::invalid_argument for options that contradict each other,
// for a source without points, and for a foreign barrier on a team with more ranks than threads; std::runtime_error
// for points too far apart for a float; and what the source throws.
clustering cluster(team& ranks, source& points, const options& how = {});

// Of all bits of the centres, weights and positions (64-bit FNV-1a): equal for equal results.
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
