// SPDX-License-Identifier: Apache-2.0
// Which participant holds which vertex, how good a partition is, and which rank takes which part.
//
//   std::vector<tutti::rank_t> part = tutti::graph::partition(g, 8, "streaming");
//   tutti::graph::partition_quality q = tutti::graph::measure(g, part, 8);
//
// Every method gives the same parts for the same graph, options and library. Functions may be
// called by several threads at once.
// They need the compiled library tutti::graph_data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

// A method and its description for people.
struct partition_method {
  std::string_view name;
  std::string_view meaning;
};
// The methods are blocks, edge-blocks, random, fennel, ldg and metis; "streaming" is another name
// of fennel. The list contains metis whether or not METIS was present when tutti was built.
TUTTI_API std::span<const partition_method> partition_methods();
// Whether tutti was built with METIS.
TUTTI_API bool has_metis() noexcept;

// The options of the methods.
struct partition_options {
  std::uint64_t seed = 1;
  // By how much of the mean the largest part may exceed it, in vertices; used by fennel, ldg and
  // metis.
  double slack = 0.05;
  // How often fennel and ldg process all vertices; at least once.
  unsigned passes = 3;
};

// The part of each vertex, 0 .. parts-1. Parts may be empty if there are fewer vertices than parts.
// Throws std::invalid_argument if there are no parts or no passes, for an unknown method, and if
// slack is not a number from 0 to 100. Throws std::runtime_error if METIS is not present or cannot
// take a graph of this size.
TUTTI_API std::vector<rank_t> partition(const csr& graph, rank_t parts,
                                        std::string_view method = "blocks",
                                        const partition_options& options = {});

// The quality of a partition.
struct partition_quality {
  // Edges from one part to another; each edge of a symmetric graph counts twice.
  edge_t cut = 0;
  // The share of the cut edges in all edges.
  double cut_share = 0;
  // Vertices of the largest part divided by the mean.
  double imbalance = 1;
  // Out-edges of the part with the most, divided by the mean.
  double edge_imbalance = 1;
  // Pairs of a vertex and another part to which it has an edge: the values to be sent if each part
  // gets one.
  edge_t halo = 0;
  // The largest number of these that one part gets.
  edge_t largest_halo = 0;
  // Vertices of the largest part.
  vertex_t largest = 0;
  vertex_t smallest = 0;
  // Parts without a vertex.
  rank_t empty = 0;
};
// Throws std::invalid_argument unless `part` has one entry below `parts` per vertex.
TUTTI_API partition_quality measure(const csr& graph, std::span<const rank_t> part, rank_t parts);

// A new_name for each vertex (see relabelled()) that makes the vertices of a part consecutive, in
// their old order.
TUTTI_API std::vector<vertex_t> order_by_part(std::span<const rank_t> part, rank_t parts);

// The edges between parts: a graph whose vertices are the parts and whose weights are the numbers
// of edges.
TUTTI_API csr quotient(const csr& graph, std::span<const rank_t> part, rank_t parts);

// The rank of each part, one to one, if the ranks form groups of `group` (the threads of a process,
// the ranks of a node) and edges within a group are cheap. The method starts from the given order,
// joins the parts that exchange most, then exchanges pairs as long as that helps. The result is
// never worse than rank = part.
TUTTI_API std::vector<rank_t> place(const csr& parts, rank_t group);
// The number of edges, by the weights of such a graph, that leave a group.
TUTTI_API double between_groups(const csr& parts, std::span<const rank_t> rank_of, rank_t group);

}  // namespace tutti::graph
