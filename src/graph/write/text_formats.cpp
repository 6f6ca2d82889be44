// SPDX-License-Identifier: Apache-2.0
// Writes edge lists, Matrix Market and METIS as text.
#include <algorithm>
#include <cmath>
#include <ostream>

#include "src/graph/write/digits.hpp"
#include "src/graph/write/writers.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

// Writes one line per edge; vertices are counted from `base`.
void write_edges(std::ostream& out, const csr& graph, std::uint64_t base) {
  digits text(out);
  for (vertex_t u = 0; u < graph.vertices; ++u) {
    for (edge_t e = graph.offsets[u]; e < graph.offsets[u + std::size_t{1}]; ++e) {
      text.put(u + base);
      text.put(' ');
      text.put(graph.targets[e] + base);
      if (graph.weighted()) {
        text.put(' ');
        text.put(graph.weights[e]);
      }
      text.put('\n');
    }
  }
  text.flush();
}

// Converts weights beyond 2^24 too, for which a float's shortest form may have an exponent.
std::uint64_t whole(float weight) { return static_cast<std::uint64_t>(weight); }

}  // namespace

void write_edge_list(std::ostream& out, const csr& graph) {
  out << "# tutti graph: vertices=" << graph.vertices << " edges=" << graph.edges() << '\n';
  write_edges(out, graph, 0);
}

void write_matrix_market(std::ostream& out, const csr& graph) {
  out << "%%MatrixMarket matrix coordinate " << (graph.weighted() ? "real" : "pattern")
      << " general\n"
      << graph.vertices << ' ' << graph.vertices << ' ' << graph.edges() << '\n';
  write_edges(out, graph, 1);
}

void check_metis(const csr& graph) {
  for (const float weight : graph.weights)
    if (weight < 1 || weight != std::floor(weight) || weight >= 0x1p31f)
      refuse("METIS accepts only whole weights from 1 to below 2^31");
  std::vector<vertex_t> row;
  for (vertex_t u = 0; u < graph.vertices; ++u) {
    row.assign(graph.out(u).begin(), graph.out(u).end());
    std::sort(row.begin(), row.end());
    if (std::binary_search(row.begin(), row.end(), u))
      refuse("a METIS graph has no self-loops, but vertex " + std::to_string(u) + " has");
    if (std::adjacent_find(row.begin(), row.end()) != row.end())
      refuse("a METIS graph has no repeated edges, but vertex " + std::to_string(u) + " has");
  }
  if (const auto edge = find_one_way(graph))
    refuse("a METIS graph is undirected, but the edge from " + std::to_string(edge->from) + " to " +
           std::to_string(edge->to) + " has no reverse");
  if (!is_symmetric_with_weights(graph))
    refuse("a METIS graph is undirected, but some edge's weight differs from its reverse's");
}

void write_metis(std::ostream& out, const csr& graph) {
  out << graph.vertices << ' ' << graph.edges() / 2 << (graph.weighted() ? " 001\n" : "\n");
  digits text(out);
  for (vertex_t u = 0; u < graph.vertices; ++u) {
    for (edge_t e = graph.offsets[u]; e < graph.offsets[u + std::size_t{1}]; ++e) {
      if (e != graph.offsets[u]) text.put(' ');
      text.put(graph.targets[e] + std::uint64_t{1});
      if (graph.weighted()) {
        text.put(' ');
        text.put(whole(graph.weights[e]));
      }
    }
    text.put('\n');
  }
  text.flush();
}

}  // namespace tutti::graph
