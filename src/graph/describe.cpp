// SPDX-License-Identifier: Apache-2.0
// Describes a graph in numbers.
#include <algorithm>
#include <cmath>

#include "tutti/graph/csr.hpp"

namespace tutti::graph {

degree_statistics degrees(const csr& graph) {
  degree_statistics found;
  if (graph.vertices == 0) return found;
  const double count = graph.vertices;
  std::vector<bool> has_in_edge(graph.vertices, false);
  for (const vertex_t target : graph.targets) has_in_edge[target] = true;

  std::vector<edge_t> all(graph.vertices);
  std::vector<vertex_t> row;
  double squares = 0;
  found.mean = static_cast<double>(graph.edges()) / count;
  for (vertex_t v = 0; v < graph.vertices; ++v) {
    const edge_t degree = all[v] = graph.degree(v);
    if (found.largest_at == no_vertex || degree > found.largest) {
      found.largest = degree;
      found.largest_at = v;
    }
    const double distance = static_cast<double>(degree) - found.mean;
    squares += distance * distance;
    if (degree == 0) ++found.without_out_edges;
    if (degree == 0 && !has_in_edge[v]) ++found.isolated;
    row.assign(graph.out(v).begin(), graph.out(v).end());
    std::sort(row.begin(), row.end());
    const auto repeated = row.end() - std::unique(row.begin(), row.end());
    found.duplicates += static_cast<edge_t>(repeated);
    found.self_loops +=
        static_cast<edge_t>(std::count(graph.out(v).begin(), graph.out(v).end(), v));
  }
  found.deviation = std::sqrt(squares / count);
  found.smallest = *std::min_element(all.begin(), all.end());
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  found.median = static_cast<double>(*middle);
  if (all.size() % 2 == 0)
    found.median = (found.median + static_cast<double>(*std::max_element(all.begin(), middle))) / 2;
  return found;
}

std::string describe(const csr& graph) {
  const auto counted = [](std::uint64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
  };
  return counted(graph.vertices, "vertex", "vertices") + ", " +
         counted(graph.edges(), "edge", "edges") + ", " +
         (graph.weighted() ? "weighted" : "unweighted");
}

}  // namespace tutti::graph
