// SPDX-License-Identifier: Apache-2.0
// What the arguments of an application must be and what is made of them, for the command and for
// the C interface.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph_apps/programs/exact.hpp"
#include "tutti/graph/csr.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {

// Throws std::invalid_argument.
inline void require_vertex(graph::vertex_t source, graph::vertex_t vertices) {
  if (source >= vertices)
    refuse("source " + std::to_string(source) + " is not a vertex of the graph, which has " +
           std::to_string(vertices) + " vertices");
}

struct weighted_edge {
  graph::vertex_t from, to;
  float weight;
};

// Returns the first edge whose weight is not at least 0, if there is one.
inline std::optional<weighted_edge> negative_edge(const graph::csr& graph) {
  for (graph::vertex_t v = 0; graph.weighted() && v < graph.vertices; ++v)
    for (graph::edge_t e = graph.offsets[v]; e < graph.offsets[v + std::size_t{1}]; ++e)
      if (!(graph.weights[e] >= 0)) return weighted_edge{v, graph.targets[e], graph.weights[e]};
  return std::nullopt;
}

// The smallest symmetric graph that has all edges of this one, for programs whose vertices wait for
// their neighbours. Added edges have weight 0. If the graph has no weights, or they are not kept,
// the other edges have weight 1.
inline graph::csr neighbours_of(const graph::csr& graph, bool keep_weights, unsigned threads = 1) {
  graph::csr weighted = graph;
  if (!keep_weights || !graph.weighted()) weighted.weights.assign(graph.edges(), 1.0f);
  return graph::symmetrized(weighted, 0.0f, threads);
}

// The settings of PageRank in the units in which its programs add (programs/pagerank.hpp).
struct pagerank_setting {
  std::uint64_t iterations = 20;
  share_t damping = 0, first = 0, base = 0, tolerance = 0;
  // Messages and results have the 24 bits of a float.
  bool single = false;
};
// Throws std::invalid_argument for values out of range. A run ends when no rank changes by more
// than `tolerance` times 1 / vertices.
inline pagerank_setting pagerank_setting_of(graph::vertex_t vertices, std::uint64_t iterations,
                                            double damping, double tolerance) {
  require(damping >= 0 && damping < 1, "PageRank's damping must be at least 0 and less than 1");
  require(tolerance >= 0, "PageRank's tolerance must not be negative");
  const double n = vertices == 0 ? 1 : vertices;
  const share_t base = share_of((1 - damping) / n);
  // Without it, all ranks may become 0.
  if (base == 0)
    refuse("PageRank's damping is too close to 1 for " + std::to_string(vertices) + " vertices");
  return {iterations, share_of(damping), share_of(1 / n), base,
          share_of(std::min(1.0, tolerance / n))};
}

// Dividing by the sum of all ranks spreads the rank of vertices without out-edges evenly over all
// (programs/pagerank.hpp).
inline void divide_by_sum(std::span<const share_t> ranks, share_t sum, double* results) {
  const double total = number_of(sum);
  for (std::size_t v = 0; v < ranks.size(); ++v) results[v] = number_of(ranks[v]) / total;
}

}  // namespace tutti::graph_apps
