// SPDX-License-Identifier: Apache-2.0
// Makes a graph row by row from a function that lists the edges of one vertex; a row is a vertex's
// out-edges in the arrays of a csr. The function is called twice per vertex, to count and to fill,
// so no list of edges has to be kept beside the rows.
#pragma once

#include <cstdint>

#include "src/graph/parallel.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

// row(v, emit) calls emit(target, weight) for each out-edge of v. It must list the same edges at
// each call, on any thread. Weights are ignored if the graph is not weighted.
template <class Row>
csr rows_by(vertex_t vertices, bool weighted, unsigned threads, const Row& row) {
  constexpr std::uint64_t grain = 1024;
  csr graph;
  graph.vertices = vertices;
  graph.offsets.assign(std::size_t{vertices} + 1, 0);
  in_parts(threads, vertices, grain, [&](std::uint64_t first, std::uint64_t last) {
    for (auto v = static_cast<vertex_t>(first); v < last; ++v) {
      edge_t degree = 0;
      row(v, [&](vertex_t, float) { ++degree; });
      graph.offsets[v + std::size_t{1}] = degree;
    }
  });
  for (std::size_t v = 0; v < vertices; ++v) graph.offsets[v + 1] += graph.offsets[v];
  graph.targets.resize(graph.offsets.back());
  if (weighted) graph.weights.resize(graph.offsets.back());
  in_parts(threads, vertices, grain, [&](std::uint64_t first, std::uint64_t last) {
    for (auto v = static_cast<vertex_t>(first); v < last; ++v) {
      edge_t place = graph.offsets[v];
      row(v, [&](vertex_t target, float weight) {
        graph.targets[place] = target;
        if (weighted) graph.weights[place] = weight;
        ++place;
      });
    }
  });
  return graph;
}

// Sorts each row by target, then by weight. transform.cpp defines it.
void sort_rows(csr& graph, unsigned threads);

}  // namespace tutti::graph
