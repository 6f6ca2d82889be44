// SPDX-License-Identifier: Apache-2.0
// Graphs as data: compressed sparse rows, functions that build them, and functions that transform
// them.
//
//   tutti::graph::edge_list list;         // parallel arrays: sources, targets, and weights or none
//   list.add(0, 1);
//   list.add(1, 2);
//   tutti::graph::csr g = tutti::graph::from_edges(std::move(list));
//   for (tutti::graph::vertex_t v : g.out(0)) ...
//
// A graph is directed. An undirected graph is stored as a symmetric one, which holds each edge in
// both directions. Repeated edges and self-loops are kept as given, unless a function says that it
// drops them.
// Vertices have 32 bits, edges 64. Memory: 8 bytes per vertex, 4 bytes per edge, and 4 more if the
// graph is weighted.
// `threads` is the number of threads that a function may use; 0 stands for one per core. Every
// function gives the same bits for any number of threads. Functions that take a graph require a
// sound one (validate()). Functions that only read a graph may run on several threads at once.
// These functions need the compiled library tutti::graph_data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/export.h"
#include "tutti/platform/config.hpp"

namespace tutti::graph {

using vertex_t = std::uint32_t;
using edge_t = std::uint64_t;

// Vertices are 0 .. n-1. n is at most most_vertices, so that n itself, and no_vertex, fit into a
// vertex_t.
inline constexpr vertex_t most_vertices = (std::numeric_limits<vertex_t>::max)() - 1;
inline constexpr vertex_t no_vertex = (std::numeric_limits<vertex_t>::max)();

// A graph in compressed sparse rows. validate() checks one that was put together by hand.
struct csr {
  vertex_t vertices = 0;
  // vertices + 1 entries; the out-edges of v are [offsets[v], offsets[v+1]).
  std::vector<edge_t> offsets = {0};
  // The target of each edge.
  std::vector<vertex_t> targets;
  // The weight of each edge. Empty if the graph is unweighted.
  std::vector<float> weights;

  edge_t edges() const noexcept { return targets.size(); }
  bool weighted() const noexcept { return !weights.empty(); }
  edge_t degree(vertex_t v) const noexcept { return offsets[v + std::size_t{1}] - offsets[v]; }
  std::span<const vertex_t> out(vertex_t v) const noexcept {
    return {targets.data() + offsets[v], static_cast<std::size_t>(degree(v))};
  }
  // The weights of the edges of out(v), in the same order. Empty if the graph is unweighted.
  std::span<const float> weights_of(vertex_t v) const noexcept {
    if (weights.empty()) return {};
    return {weights.data() + offsets[v], static_cast<std::size_t>(degree(v))};
  }

  bool operator==(const csr&) const = default;
};

// A list of edges in any order, from which from_edges() makes a graph.
struct edge_list {
  // At least 1 + the largest vertex that an edge names.
  vertex_t vertices = 0;
  std::vector<vertex_t> sources;
  std::vector<vertex_t> targets;
  // One weight per edge, or none at all.
  std::vector<float> weights;

  std::size_t size() const noexcept { return sources.size(); }
  // Appends an edge and increases `vertices` if necessary. Give either all edges a weight or none.
  void add(vertex_t from, vertex_t to) {
    sources.push_back(from);
    targets.push_back(to);
    const vertex_t larger = from < to ? to : from;
    if (larger >= vertices) vertices = larger + 1;
  }
  void add(vertex_t from, vertex_t to, float weight) {
    add(from, to);
    weights.push_back(weight);
  }
};

// Sorts the edges by source; the edges of one vertex keep the order of the list. The first form
// frees the list's arrays as it proceeds: its peak is 12 bytes per edge, or 16 if the edges are
// weighted. Throws std::invalid_argument if the arrays differ in length or a vertex is out of
// range.
TUTTI_API csr from_edges(edge_list&& list, unsigned threads = 1);
TUTTI_API csr from_edges(const edge_list& list, unsigned threads = 1);

// Checks a graph that was put together by hand. Throws std::invalid_argument if the offsets do not
// ascend from 0 to the number of edges, if a target is out of range, if only some edges have
// weights, or if a weight is not finite.
TUTTI_API void validate(const csr& graph);

// Reverses each edge. The edges of one vertex are sorted by ascending source.
TUTTI_API csr transpose(const csr& graph, unsigned threads = 1);

// Sorts each row by ascending target, and edges with the same target by ascending weight.
TUTTI_API csr sorted(const csr& graph, unsigned threads = 1);

// Whether (v, u) occurs as often as (u, v) for all pairs.
TUTTI_API bool is_symmetric(const csr& graph);
// The same, and the weights of both directions are equal too.
TUTTI_API bool is_symmetric_with_weights(const csr& graph);

// An edge that occurs more often than its reverse, for error messages. It is always the same one
// for the same graph.
struct one_way {
  vertex_t from = no_vertex;
  vertex_t to = no_vertex;
};
TUTTI_API std::optional<one_way> find_one_way(const csr& graph);

// The smallest symmetric graph that has all edges of this one: each pair of vertices gets as many
// edges in each direction as the direction with more edges has. An added edge gets the weight of
// the reverse edge, or `added_weight` if that is given (0 for edges that only carry
// acknowledgements). Rows are sorted.
TUTTI_API csr symmetrized(const csr& graph, std::optional<float> added_weight = {},
                          unsigned threads = 1);

// The graph without the edges from a vertex to itself.
TUTTI_API csr without_self_loops(const csr& graph);
// Keeps the edge with the least weight of those with the same ends. Rows are sorted.
TUTTI_API csr without_duplicates(const csr& graph, unsigned threads = 1);

// The same graph with vertex v renamed to new_name[v]. Each row keeps its order.
// Throws std::invalid_argument if `new_name` is not a permutation of 0 .. vertices-1.
TUTTI_API csr relabelled(const csr& graph, std::span<const vertex_t> new_name);

// Sets each edge's weight to weight(from, to, index of the edge). Existing weights are dropped.
template <class F>
void set_weights(csr& graph, F weight) {
  graph.weights.resize(graph.targets.size());
  for (vertex_t u = 0; u < graph.vertices; ++u)
    for (edge_t e = graph.offsets[u]; e < graph.offsets[u + std::size_t{1}]; ++e)
      graph.weights[e] = weight(u, graph.targets[e], e);
}

// Statistics of the out-degrees, and counts of special vertices and edges.
struct degree_statistics {
  edge_t smallest = 0;
  edge_t largest = 0;
  double mean = 0;
  double median = 0;
  // The standard deviation over all vertices.
  double deviation = 0;
  vertex_t largest_at = no_vertex;
  vertex_t without_out_edges = 0;
  // Vertices with neither out-edges nor in-edges.
  vertex_t isolated = 0;
  edge_t self_loops = 0;
  // Edges beyond the first with the same ends.
  edge_t duplicates = 0;
};
TUTTI_API degree_statistics degrees(const csr& graph);

// For example "65536 vertices, 1048576 edges, unweighted".
TUTTI_API std::string describe(const csr& graph);

}  // namespace tutti::graph
