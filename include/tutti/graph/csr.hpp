// SPDX-License-Identifier: Apache-2.0
// Graphs as data: compressed sparse rows, how they are built, and what can be made of them.
//
//   tutti::graph::edge_list list;                 // arrays side by side: sources, targets, and weights or none
//   list.add(0, 1);
//   list.add(1, 2);
//   tutti::graph::csr g = tutti::graph::from_edges(std::move(list));
//   for (tutti::graph::vertex_t v : g.out(0)) ...
//
// A graph is directed. An undirected one is a symmetric one: it holds each edge in both directions. Edges that occur
// several times and edges from a vertex to itself are kept as given, unless a function says that it drops them.
// Vertices have 32 bits, edges 64. Memory: 8 bytes a vertex, 4 an edge, 4 more if it is weighted.
// Every function gives the same bits for any number of threads. Needs the compiled library tutti::graph_data.
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

// Vertices are 0 .. n-1 with n at most this, so that n itself, and "no vertex", fit into a vertex_t.
inline constexpr vertex_t most_vertices = std::numeric_limits<vertex_t>::max() - 1;
inline constexpr vertex_t no_vertex = std::numeric_limits<vertex_t>::max();

struct csr {
  vertex_t vertices = 0;
  std::vector<edge_t> offsets = {
      0};  // vertices + 1 of them; the out-edges of v are [offsets[v], offsets[v+1])
  std::vector<vertex_t> targets;  // of each edge
  std::vector<float> weights;     // of each edge; empty: the graph is unweighted

  edge_t edges() const noexcept { return targets.size(); }
  bool weighted() const noexcept { return !weights.empty(); }
  edge_t degree(vertex_t v) const noexcept { return offsets[v + std::size_t{1}] - offsets[v]; }
  std::span<const vertex_t> out(vertex_t v) const noexcept {
    return {targets.data() + offsets[v], static_cast<std::size_t>(degree(v))};
  }
  // Of the same edges in the same order; empty if the graph is unweighted.
  std::span<const float> weights_of(vertex_t v) const noexcept {
    if (weights.empty()) return {};
    return {weights.data() + offsets[v], static_cast<std::size_t>(degree(v))};
  }

  bool operator==(const csr&) const = default;
};

struct edge_list {
  vertex_t vertices = 0;  // at least 1 + the largest vertex named
  std::vector<vertex_t> sources;
  std::vector<vertex_t> targets;
  std::vector<float> weights;  // as many as there are edges, or none

  std::size_t size() const noexcept { return sources.size(); }
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

// The edges by source; those of one vertex in the order of the list. Frees the list's arrays as it goes: the peak is 12
// bytes an edge, 16 if it is weighted. Throws std::invalid_argument if arrays differ in length or a vertex is out of range.
TUTTI_API csr from_edges(edge_list&& list, unsigned threads = 1);
TUTTI_API csr from_edges(const edge_list& list, unsigned threads = 1);

// Throws std::invalid_argument, with a sentence, if offsets do not ascend from 0 to the number of edges, a target is out of
// range, there are weights for some edges only, or one is not finite. For graphs that were put together by hand.
TUTTI_API void validate(const csr& graph);

// Each edge the other way round; those of one vertex by ascending source.
TUTTI_API csr transpose(const csr& graph, unsigned threads = 1);

// Each row by ascending target; edges with the same target by ascending weight.
TUTTI_API csr sorted(const csr& graph, unsigned threads = 1);

// Whether (v, u) occurs as often as (u, v) does, for all pairs.
TUTTI_API bool is_symmetric(const csr& graph);
// Whether it does so with the same weights too.
TUTTI_API bool is_symmetric_with_weights(const csr& graph);

// An edge that occurs more often than its reverse, for messages; always the same one for the same graph.
struct one_way {
  vertex_t from = no_vertex;
  vertex_t to = no_vertex;
};
TUTTI_API std::optional<one_way> find_one_way(const csr& graph);

// The smallest symmetric graph that has all edges of this one: each pair of vertices has as many edges in both directions
// as in that with more of them. What is added has the weight of the reverse edge, or `added_weight` if that is given
// (0 for edges that only carry acknowledgements). Rows are sorted.
TUTTI_API csr symmetrized(const csr& graph, std::optional<float> added_weight = {},
                          unsigned threads = 1);

TUTTI_API csr without_self_loops(const csr& graph);
// Of edges with the same ends the one with the least weight stays; rows are sorted.
TUTTI_API csr without_duplicates(const csr& graph, unsigned threads = 1);

// The same graph with vertex v called new_name[v], a permutation; each row keeps its order.
// Throws std::invalid_argument if it is not a permutation of 0 .. vertices-1.
TUTTI_API csr relabelled(const csr& graph, std::span<const vertex_t> new_name);

// Each edge's weight by a rule of the caller's: weight(from, to, index of the edge). Drops the weights it had.
template <class F>
void set_weights(csr& graph, F weight) {
  graph.weights.resize(graph.targets.size());
  for (vertex_t u = 0; u < graph.vertices; ++u)
    for (edge_t e = graph.offsets[u]; e < graph.offsets[u + std::size_t{1}]; ++e)
      graph.weights[e] = weight(u, graph.targets[e], e);
}

struct degree_statistics {
  edge_t smallest = 0;
  edge_t largest = 0;
  double mean = 0;
  double median = 0;
  double deviation = 0;  // standard deviation, of all vertices
  vertex_t largest_at = no_vertex;
  vertex_t without_out_edges = 0;
  vertex_t isolated = 0;  // neither out-edges nor in-edges
  edge_t self_loops = 0;
  edge_t duplicates = 0;  // edges beyond the first with the same ends
};
TUTTI_API degree_statistics degrees(const csr& graph);

// "65536 vertices, 1048576 edges, unweighted"
TUTTI_API std::string describe(const csr& graph);

}  // namespace tutti::graph
