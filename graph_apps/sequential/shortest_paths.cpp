// SPDX-License-Identifier: Apache-2.0
// Dijkstra, "A note on two problems in connexion with graphs" (1959), with a heap that keeps
// outdated entries until they are taken out.
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps::sequential {

std::vector<float> shortest_paths(const graph::csr& graph, graph::vertex_t source) {
  std::vector<float> distance(graph.vertices, std::numeric_limits<float>::infinity());
  using entry = std::pair<float, graph::vertex_t>;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> open;
  distance[source] = 0;
  open.emplace(0.0f, source);
  while (!open.empty()) {
    const auto [near, v] = open.top();
    open.pop();
    if (near > distance[v]) continue;
    const auto targets = graph.out(v);
    const auto weights = graph.weights_of(v);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const float found = near + (weights.empty() ? 1.0f : weights[i]);
      if (!(found < distance[targets[i]])) continue;
      distance[targets[i]] = found;
      open.emplace(found, targets[i]);
    }
  }
  return distance;
}

}  // namespace tutti::graph_apps::sequential
