// SPDX-License-Identifier: Apache-2.0
// Writes GAP files; read/gap.cpp has the layout. A symmetric graph is written as an undirected one.
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

#include "src/graph/write/writers.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

template <class T>
void put(std::ostream& out, const T* values, std::size_t count) {
  out.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(T)));
}

void write_half(std::ostream& out, const csr& graph) {
  put(out, graph.offsets.data(), graph.offsets.size());
  if (!graph.weighted()) return put(out, graph.targets.data(), graph.targets.size());
  struct pair {
    vertex_t target;
    std::int32_t weight;
  };
  std::vector<pair> row;
  for (vertex_t v = 0; v < graph.vertices; ++v) {
    row.clear();
    for (edge_t e = graph.offsets[v]; e < graph.offsets[v + std::size_t{1}]; ++e)
      row.push_back({graph.targets[e], static_cast<std::int32_t>(graph.weights[e])});
    put(out, row.data(), row.size());
  }
}

}  // namespace

void check_gap(const csr& graph) {
  if (graph.vertices > static_cast<vertex_t>(std::numeric_limits<std::int32_t>::max()))
    refuse("a GAP graph has at most 2^31 - 1 vertices");
  for (const float weight : graph.weights)
    if (weight != std::floor(weight) || weight < -0x1p31f || weight >= 0x1p31f)
      refuse("a GAP graph can have only whole weights of 32 bits; " + std::to_string(weight) +
             " is none");
}

void write_gap(std::ostream& out, const csr& graph) {
  const bool directed = !is_symmetric_with_weights(graph);
  const std::int64_t sizes[] = {static_cast<std::int64_t>(graph.edges()),
                                static_cast<std::int64_t>(graph.vertices)};
  out.put(directed ? 1 : 0);
  put(out, sizes, 2);
  write_half(out, graph);
  if (directed) write_half(out, transpose(graph));
}

}  // namespace tutti::graph
