// SPDX-License-Identifier: Apache-2.0
// The plain loop of the application heat.
#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps::sequential {

std::vector<double> heat(const graph::csr& graph, const heat_setting& setting) {
  std::vector<double> temperatures(setting.initial.begin(), setting.initial.end());
  std::vector<std::int64_t> arrived(graph.vertices);
  for (std::uint64_t step = 0; step < setting.steps; ++step) {
    for (graph::vertex_t v = 0; v < graph.vertices; ++v)
      for (graph::edge_t e = graph.offsets[v]; e < graph.offsets[v + std::size_t{1}]; ++e) {
        const double weight = graph.weighted() ? graph.weights[e] : 1.0f;
        arrived[graph.targets[e]] += setting.scale.units(weight * temperatures[v]);
      }
    for (graph::vertex_t v = 0; v < graph.vertices; ++v) {
      temperatures[v] = cooled(setting, v, temperatures[v], arrived[v]);
      arrived[v] = 0;
    }
  }
  return temperatures;
}

}  // namespace tutti::graph_apps::sequential
