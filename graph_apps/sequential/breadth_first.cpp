// SPDX-License-Identifier: Apache-2.0
// The plain loop of the application bfs: one level after another.
#include <algorithm>
#include <utility>

#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps::sequential {

std::vector<way> breadth_first(const graph::csr& graph, graph::vertex_t source) {
  std::vector<way> ways(graph.vertices);
  ways[source] = {0, source};
  std::vector<graph::vertex_t> front{source}, next;
  for (std::uint32_t distance = 1; !front.empty(); ++distance) {
    next.clear();
    for (const graph::vertex_t v : front)
      for (const graph::vertex_t to : graph.out(v)) {
        if (!ways[to].is_found()) {
          ways[to] = {distance, v};
          next.push_back(to);
        } else if (ways[to].distance == distance) {
          ways[to].parent = std::min(ways[to].parent, v);
        }
      }
    std::swap(front, next);
  }
  return ways;
}

}  // namespace tutti::graph_apps::sequential
