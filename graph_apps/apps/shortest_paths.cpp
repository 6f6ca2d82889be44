// SPDX-License-Identifier: Apache-2.0
// The application sssp: shortest paths from one vertex, with weights, in each mode.
#include "graph_apps/programs/shortest_paths.hpp"

#include <cmath>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/apps/processes.hpp"
#include "graph_apps/programs/shortest_paths_sync.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

template <class Program>
void run_messages(const graph_input& graph, const settings& s, vertex_values<double>& distances,
                  outcome& o) {
  Program program;
  program.source = s.sources[0];
  run_program(program, graph, s, o,
              [&](const auto& m) { distances[m.vertex] = static_cast<double>(m.content); });
}

}  // namespace

outcome run_shortest_paths(const graph_input& graph, const settings& s) {
  require_sources(graph, s.sources);
  require(s.sources.size() == 1, "sssp accepts one source; mssp accepts many, without weights");
  require_no_negative_weight(graph, "sssp");
  outcome o;
  vertex_values<double> distances = values_here<double>(graph, s);
  if (s.mode == mode::sync) {
    run_messages<shortest_paths_sync>(graph, s, distances, o);
  } else if (s.mode == mode::async) {
    run_messages<shortest_paths>(graph, s, distances, o);
  } else {
    const std::vector<float> found = run_sequential(graph.whole(), o, [&](const graph::csr& g) {
      return sequential::shortest_paths(g, s.sources[0]);
    });
    distances.values.assign(found.begin(), found.end());
  }
  double reached = 0, farthest = 0;
  for (const double d : distances.values) {
    if (!std::isfinite(d)) continue;
    ++reached;
    farthest = std::max(farthest, d);
  }
  o.summary = {{"vertices reached", over_processes(graph, s, reached, plus{})},
               {"largest distance", over_processes(graph, s, farthest, maximum{})}};
  o.columns.push_back({"distance", std::move(distances.values)});
  return o;
}

}  // namespace tutti::graph_apps
