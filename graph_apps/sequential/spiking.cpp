// SPDX-License-Identifier: Apache-2.0
// The plain loop of the application spiking.
#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps::sequential {

spiking_result spiking(const graph::csr& graph, std::span<const current_t> currents,
                       const spiking_network& net, bool record) {
  spiking_result made;
  made.neurons.resize(graph.vertices);
  for (graph::vertex_t v = 0; v < graph.vertices; ++v) made.neurons[v].init(net, v);
  std::vector<std::int64_t> input(graph.vertices);
  std::vector<graph::vertex_t> fired;
  for (std::uint64_t t = 0; t < net.steps; ++t) {
    fired.clear();
    for (graph::vertex_t v = 0; v < graph.vertices; ++v) {
      if (made.neurons[v].step(net, v, t, input[v])) fired.push_back(v);
      input[v] = 0;
    }
    for (const graph::vertex_t v : fired) {
      if (record) made.spikes.push_back({t, v});
      for (graph::edge_t e = graph.offsets[v]; e < graph.offsets[v + std::size_t{1}]; ++e)
        input[graph.targets[e]] += currents[e];
    }
  }
  return made;
}

}  // namespace tutti::graph_apps::sequential
