// SPDX-License-Identifier: Apache-2.0
// Turns edge lists into rows by counting: one pass finds where each row begins, another puts the
// edges there.
//
// Each thread fills the rows of its own range of vertices and reads all sources for that. Reading
// in order is cheap compared with writing to random places, and the order within a row is that of
// the list whichever thread fills it.
#include <cmath>
#include <utility>

#include "src/graph/parallel.hpp"
#include "tutti/graph/csr.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

void check(const edge_list& list) {
  if (list.targets.size() != list.sources.size())
    refuse("an edge list has " + std::to_string(list.sources.size()) + " sources, but " +
           std::to_string(list.targets.size()) + " targets");
  if (!list.weights.empty() && list.weights.size() != list.sources.size())
    refuse("an edge list has " + std::to_string(list.sources.size()) + " edges, but " +
           std::to_string(list.weights.size()) + " weights");
  if (list.vertices > most_vertices)
    refuse("a graph has at most " + std::to_string(most_vertices) + " vertices");
  for (std::size_t e = 0; e < list.size(); ++e) {
    if (list.sources[e] < list.vertices && list.targets[e] < list.vertices) continue;
    refuse("edge " + std::to_string(e) + " of an edge list goes from " +
           std::to_string(list.sources[e]) + " to " + std::to_string(list.targets[e]) +
           ", but there are only " + std::to_string(list.vertices) + " vertices");
  }
}

// Sets starts[v + 1] to the beginning of v's row. It serves as the row's cursor; when the row is
// full, it is the row's end, which is the beginning of the next row.
void point_at_starts(const std::vector<vertex_t>& sources, std::vector<edge_t>& starts,
                     unsigned threads) {
  const std::size_t vertices = starts.size() - 1;
  in_shares(threads, vertices, [&](std::uint64_t first, std::uint64_t last) {
    const auto low = static_cast<vertex_t>(first);
    const auto width = static_cast<vertex_t>(last - first);
    edge_t* const count = starts.data() + 1;
    for (const vertex_t source : sources)
      if (source - low < width) ++count[source];
  });
  edge_t sum = 0;
  for (std::size_t v = 1; v <= vertices; ++v) sum += std::exchange(starts[v], sum);
}

template <class T>
std::vector<T> scatter(const std::vector<vertex_t>& sources, const std::vector<T>& values,
                       std::vector<edge_t>& starts, unsigned threads) {
  std::vector<T> rows(values.size());
  in_shares(threads, starts.size() - 1, [&](std::uint64_t first, std::uint64_t last) {
    const auto low = static_cast<vertex_t>(first);
    const auto width = static_cast<vertex_t>(last - first);
    edge_t* const cursor = starts.data() + 1;
    for (std::size_t e = 0; e < sources.size(); ++e)
      if (sources[e] - low < width) rows[cursor[sources[e]]++] = values[e];
  });
  return rows;
}

// Moves the cursors from the ends of their rows back to the beginnings.
void rewind(std::vector<edge_t>& starts) {
  for (std::size_t v = starts.size() - 1; v > 0; --v) starts[v] = starts[v - 1];
}

}  // namespace

csr from_edges(edge_list&& list, unsigned threads) {
  check(list);
  csr graph;
  graph.vertices = list.vertices;
  graph.offsets.assign(std::size_t{list.vertices} + 1, 0);
  if (list.vertices == 0) return graph;
  point_at_starts(list.sources, graph.offsets, threads);
  graph.targets = scatter(list.sources, list.targets, graph.offsets, threads);
  std::vector<vertex_t>().swap(list.targets);
  if (!list.weights.empty()) {
    rewind(graph.offsets);
    graph.weights = scatter(list.sources, list.weights, graph.offsets, threads);
  }
  list = edge_list();
  return graph;
}

csr from_edges(const edge_list& list, unsigned threads) {
  return from_edges(edge_list(list), threads);
}

void validate(const csr& graph) {
  if (graph.vertices > most_vertices)
    refuse("a graph has at most " + std::to_string(most_vertices) + " vertices");
  if (graph.offsets.size() != std::size_t{graph.vertices} + 1)
    refuse("a graph of " + std::to_string(graph.vertices) +
           " vertices needs one offset more, not " + std::to_string(graph.offsets.size()));
  if (graph.offsets.front() != 0) refuse("a graph's first offset must be 0");
  for (std::size_t v = 0; v < graph.vertices; ++v)
    if (graph.offsets[v + 1] < graph.offsets[v])
      refuse("the offsets of a graph descend after vertex " + std::to_string(v));
  if (graph.offsets.back() != graph.edges())
    refuse("a graph's last offset, " + std::to_string(graph.offsets.back()) +
           ", is not its number of edges, " + std::to_string(graph.edges()));
  for (const vertex_t target : graph.targets)
    if (target >= graph.vertices)
      refuse("an edge leads to vertex " + std::to_string(target) + ", but there are only " +
             std::to_string(graph.vertices) + " vertices");
  if (!graph.weights.empty() && graph.weights.size() != graph.edges())
    refuse("a graph of " + std::to_string(graph.edges()) + " edges has " +
           std::to_string(graph.weights.size()) + " weights");
  for (const float weight : graph.weights)
    if (!std::isfinite(weight)) refuse("an edge's weight is not a finite number");
}

}  // namespace tutti::graph
