// SPDX-License-Identifier: Apache-2.0
// Unweighted shortest paths from many vertices at once, one bit per source. A source that reaches a
// vertex first in step k is at distance k. Only vertices that a new source has reached send.
// Source: Then et al., "The more the merrier: efficient multi-source graph traversal" (2014).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

template <std::size_t Words>
struct source_set {
  std::array<std::uint64_t, Words> words{};

  static constexpr std::size_t capacity = 64 * Words;
  void insert(std::size_t i) noexcept { words[i / 64] |= std::uint64_t{1} << (i % 64); }
  void operator|=(const source_set& o) noexcept {
    for (std::size_t i = 0; i < Words; ++i) words[i] |= o.words[i];
  }
  // Removes what `known` has and adds the rest to it. Returns the number of sources that were
  // added.
  std::uint32_t keep_new(source_set& known) noexcept {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < Words; ++i) {
      words[i] &= ~known.words[i];
      known.words[i] |= words[i];
      count += static_cast<std::uint32_t>(std::popcount(words[i]));
    }
    return count;
  }
};

// What is known about the ways from the sources to one vertex.
struct reached {
  // The sum of the distances.
  std::uint64_t total = 0;
  // The number of sources that reach the vertex.
  std::uint32_t sources = 0;
  // The largest of the distances.
  std::uint32_t farthest = 0;

  void add(std::uint32_t count, std::uint32_t distance) noexcept {
    if (count == 0) return;
    sources += count;
    total += std::uint64_t{count} * distance;
    if (distance > farthest) farthest = distance;
  }
};

// Packs the result into the words of a set, for the host.
template <std::size_t Words>
source_set<Words> packed(const reached& r) noexcept {
  static_assert(Words >= 2);
  source_set<Words> set;
  set.words[0] = r.total;
  set.words[1] = r.sources | std::uint64_t{r.farthest} << 32;
  return set;
}
template <std::size_t Words>
reached unpacked(const source_set<Words>& set) noexcept {
  return {set.words[0], static_cast<std::uint32_t>(set.words[1]),
          static_cast<std::uint32_t>(set.words[1] >> 32)};
}

template <std::size_t Words>
void insert_source(source_set<Words>& set, graph::vertex_t v,
                   std::span<const graph::vertex_t> sources) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i] == v) set.insert(i);
}

template <std::size_t Words>
struct reach {
  struct state {
    source_set<Words> known, fresh, arrived;
    reached result;
  };
  using edge = graph::nothing;
  using message = source_set<Words>;
  using vertex = graph::vertex<reach>;

  // At most 64 * Words; a vertex may occur more than once.
  std::span<const graph::vertex_t> sources;

  void init(vertex& v) const {
    insert_source(v->fresh, v.id(), sources);
    const std::uint32_t count = v->fresh.keep_new(v->known);
    v->result.add(count, 0);
    if (count != 0) v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->fresh;
    v.ready_to_send(graph::no_pin);
  }
  void recv(vertex& v, const message& m, const edge&) const { v->arrived |= m; }
  bool step(vertex& v) const {
    v->fresh = v->arrived;
    v->arrived = {};
    const std::uint32_t count = v->fresh.keep_new(v->known);
    v->result.add(count, static_cast<std::uint32_t>(v.time() + 1));
    if (count != 0) v.ready_to_send(graph::pin(0));
    return count != 0;
  }
  bool finish(vertex& v, message& m) const {
    m = packed<Words>(v->result);
    return true;
  }
};

}  // namespace tutti::graph_apps
