// SPDX-License-Identifier: Apache-2.0
// What the command's applications and their C interface ask of the weights of a graph.
#pragma once

#include <cstddef>
#include <optional>

#include "tutti/graph/csr.hpp"

namespace tutti::graph_apps {

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

}  // namespace tutti::graph_apps
