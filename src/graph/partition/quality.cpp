// SPDX-License-Identifier: Apache-2.0
// The quality of a partition, and graphs derived from it.
#include <algorithm>
#include <string>

#include "src/graph/partition/methods.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

void check_parts(vertex_t vertices, std::span<const rank_t> part, rank_t parts) {
  if (parts == 0) refuse("a partition needs at least one part");
  if (part.size() != vertices)
    refuse("a partition of " + std::to_string(part.size()) + " vertices is not one of a graph of " +
           std::to_string(vertices));
  for (std::size_t v = 0; v < part.size(); ++v)
    if (part[v] >= parts)
      refuse("vertex " + std::to_string(v) + " is in part " + std::to_string(part[v]) + " of " +
             std::to_string(parts));
}

partition_quality measure(const csr& graph, std::span<const rank_t> part, rank_t parts) {
  check_parts(graph.vertices, part, parts);
  std::vector<edge_t> vertices(parts, 0), edges(parts, 0), halo(parts, 0);
  // The vertex for which each part was counted last.
  std::vector<vertex_t> last_seen(parts, no_vertex);
  partition_quality found;
  for (vertex_t v = 0; v < graph.vertices; ++v) {
    const rank_t home = part[v];
    ++vertices[home];
    edges[home] += graph.degree(v);
    for (const vertex_t target : graph.out(v)) {
      const rank_t there = part[target];
      if (there == home) continue;
      ++found.cut;
      if (last_seen[there] == v) continue;
      last_seen[there] = v;
      ++halo[there];
      ++found.halo;
    }
  }
  const auto largest = [](const auto& all) { return *std::max_element(all.begin(), all.end()); };
  found.largest = static_cast<vertex_t>(largest(vertices));
  found.smallest = static_cast<vertex_t>(*std::min_element(vertices.begin(), vertices.end()));
  found.largest_halo = largest(halo);
  found.empty = static_cast<rank_t>(std::count(vertices.begin(), vertices.end(), 0));
  const double count = parts;
  if (graph.vertices > 0) found.imbalance = found.largest * count / graph.vertices;
  if (graph.edges() > 0) {
    const auto all = static_cast<double>(graph.edges());
    found.edge_imbalance = static_cast<double>(largest(edges)) * count / all;
    found.cut_share = static_cast<double>(found.cut) / all;
  }
  return found;
}

std::vector<vertex_t> order_by_part(std::span<const rank_t> part, rank_t parts) {
  check_parts(static_cast<vertex_t>(part.size()), part, parts);
  std::vector<vertex_t> next(std::size_t{parts} + 1, 0);
  for (const rank_t p : part) ++next[p + std::size_t{1}];
  for (std::size_t p = 1; p < next.size(); ++p) next[p] += next[p - 1];
  std::vector<vertex_t> new_name(part.size());
  for (std::size_t v = 0; v < part.size(); ++v) new_name[v] = next[part[v]]++;
  return new_name;
}

csr quotient(const csr& graph, std::span<const rank_t> part, rank_t parts) {
  const std::vector<vertex_t> new_name = order_by_part(part, parts);
  check_parts(graph.vertices, part, parts);
  std::vector<vertex_t> in_order(graph.vertices);
  for (vertex_t v = 0; v < graph.vertices; ++v) in_order[new_name[v]] = v;

  csr result;
  result.vertices = parts;
  std::vector<edge_t> count(parts, 0);
  std::vector<rank_t> touched;
  std::size_t next = 0;
  for (rank_t p = 0; p < parts; ++p) {
    for (; next < in_order.size() && part[in_order[next]] == p; ++next)
      for (const vertex_t target : graph.out(in_order[next]))
        if (part[target] != p && count[part[target]]++ == 0) touched.push_back(part[target]);
    std::sort(touched.begin(), touched.end());
    for (const rank_t other : touched) {
      result.targets.push_back(other);
      result.weights.push_back(static_cast<float>(count[other]));
      count[other] = 0;
    }
    touched.clear();
    result.offsets.push_back(result.targets.size());
  }
  return result;
}

}  // namespace tutti::graph
