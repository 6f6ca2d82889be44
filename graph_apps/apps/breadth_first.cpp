// SPDX-License-Identifier: Apache-2.0
// The application bfs: distances, in edges, from one vertex, and a tree of shortest ways, in each
// mode.
#include "graph_apps/programs/breadth_first.hpp"

#include <algorithm>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/apps/processes.hpp"
#include "graph_apps/programs/breadth_first_sync.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

template <class Program>
void run_messages(const graph_input& graph, const settings& s, vertex_values<way>& ways,
                  outcome& o) {
  Program program;
  program.source = s.sources[0];
  run_program(program, graph, s, o, [&](const auto& m) { ways[m.vertex] = m.content; });
}

}  // namespace

outcome run_breadth_first(const graph_input& graph, const settings& s) {
  require_sources(graph, s.sources);
  require(s.sources.size() == 1, "bfs accepts one source; mssp accepts many");
  outcome o;
  vertex_values<way> ways = values_here<way>(graph, s);
  if (s.mode == mode::sync) {
    run_messages<breadth_first_sync>(graph, s, ways, o);
  } else if (s.mode == mode::async) {
    run_messages<breadth_first>(graph, s, ways, o);
  } else {
    ways.values = run_sequential(graph.whole(), o, [&](const graph::csr& g) {
      return sequential::breadth_first(g, s.sources[0]);
    });
  }
  std::vector<std::int64_t> distances, parents;
  double reached = 0, farthest = 0;
  for (const way& w : ways.values) {
    distances.push_back(w.is_found() ? std::int64_t{w.distance} : -1);
    parents.push_back(w.is_found() ? std::int64_t{w.parent} : -1);
    if (!w.is_found()) continue;
    ++reached;
    farthest = std::max(farthest, static_cast<double>(w.distance));
  }
  o.summary = {{"vertices reached", over_processes(graph, s, reached, plus{})},
               {"largest distance", over_processes(graph, s, farthest, maximum{})}};
  o.columns.push_back({"distance", std::move(distances)});
  o.columns.push_back({"parent", std::move(parents)});
  return o;
}

}  // namespace tutti::graph_apps
