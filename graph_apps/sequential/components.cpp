// SPDX-License-Identifier: Apache-2.0
// The plain loop of the application components: sets that are united, with paths halved (Tarjan and
// van Leeuwen, "Worst-case analysis of set union algorithms", 1984). The lowest vertex of a set is
// its root.
#include <numeric>

#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps::sequential {

std::vector<graph::vertex_t> components(const graph::csr& graph) {
  std::vector<graph::vertex_t> up(graph.vertices);
  std::iota(up.begin(), up.end(), graph::vertex_t{0});
  const auto root = [&](graph::vertex_t v) {
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
  };
  for (graph::vertex_t v = 0; v < graph.vertices; ++v)
    for (const graph::vertex_t to : graph.out(v)) {
      const graph::vertex_t a = root(v), b = root(to);
      if (a < b)
        up[b] = a;
      else
        up[a] = b;
    }
  for (graph::vertex_t v = 0; v < graph.vertices; ++v) up[v] = root(v);
  return up;
}

}  // namespace tutti::graph_apps::sequential
