// SPDX-License-Identifier: Apache-2.0
// The table of applications, and the checks of settings that several of them share.
#include <fmt/format.h>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/arguments.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {

const std::vector<application>& applications() {
  static const std::vector<application> all{
      {"pagerank", "how often a random walk visits each vertex", "iterations", 20, false,
       run_pagerank, true},
      {"sssp", "shortest paths from one vertex, with weights", "", 0, true, run_shortest_paths,
       true, true},
      {"bfs", "breadth-first search from one vertex: distances and parents", "", 0, false,
       run_breadth_first, true, true},
      {"components", "connected components, whichever way the edges point", "", 0, false,
       run_components, true, true, true},
      {"mssp", "shortest paths from many vertices, without weights", "", 0, false, run_multi_source,
       true},
      {"spiking", "Izhikevich's neurons, 80 % excitatory", "milliseconds", 1000, true, run_spiking,
       true},
      {"heat", "Newton's law of cooling along the edges", "steps", 100, true, run_heat, true},
  };
  return all;
}

void require_sources(const graph_input& graph, const std::vector<graph::vertex_t>& sources) {
  if (sources.empty()) refuse("shortest paths need at least one source");
  for (const graph::vertex_t s : sources) require_vertex(s, graph.vertices());
}

void require_no_negative_weight(const graph_input& input, const std::string& application) {
  if (!input.is_whole()) return;
  if (const auto edge = negative_edge(input.whole()))
    refuse(fmt::format("{} needs nonnegative weights; the weight of the edge from {} to {} is {}",
                       application, edge->from, edge->to, edge->weight));
}

}  // namespace tutti::graph_apps
