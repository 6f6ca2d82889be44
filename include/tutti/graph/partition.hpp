// SPDX-License-Identifier: Apache-2.0
// Which participant holds which vertex, how good that is, and which rank takes which part.
//
//   std::vector<tutti::rank_t> part = tutti::graph::partition(g, 8, "streaming");
//   tutti::graph::partition_quality q = tutti::graph::measure(g, part, 8);
//
// Every method gives the same parts for the same graph, options and library. Needs the compiled library tutti::graph_data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.h"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

struct partition_method {
  std::string_view name;
  std::string_view meaning;
};
// blocks, edge-blocks, random, fennel, ldg, metis; "streaming" is another name of fennel. metis is in the list whether or
// not it was there when tutti was built.
TUTTI_API std::span<const partition_method> partition_methods();
TUTTI_API bool has_metis() noexcept;

struct partition_options {
  std::uint64_t seed = 1;
  // How much larger than the mean the largest part may be, by vertices; of fennel, ldg, metis.
  double slack = 0.05;
  // How often fennel and ldg go through the vertices; at least once.
  unsigned passes = 3;
};

// The part of each vertex, 0 .. parts-1. Parts may be empty if there are fewer vertices than parts.
// Throws std::invalid_argument for no parts, an unknown method, slack that is no number from 0 to 100, no pass; std::runtime_error
// if METIS is not there, or cannot take a graph of this size.
TUTTI_API std::vector<rank_t> partition(const csr& graph, rank_t parts,
                                        std::string_view method = "blocks",
                                        const partition_options& options = {});

struct partition_quality {
  edge_t cut = 0;        // edges from one part to another; of a symmetric graph each counts twice
  double cut_share = 0;  // of all edges
  double imbalance = 1;  // vertices of the largest part / mean
  double edge_imbalance = 1;  // out-edges of the part with most / mean
  edge_t halo =
      0;  // pairs (vertex, other part that it has an edge to): values to be sent if each part gets one
  edge_t largest_halo = 0;  // of them, those that one part gets
  vertex_t largest = 0;     // vertices
  vertex_t smallest = 0;
  rank_t empty = 0;  // parts without a vertex
};
// Throws std::invalid_argument if `part` has not one entry below `parts` for each vertex.
TUTTI_API partition_quality measure(const csr& graph, std::span<const rank_t> part, rank_t parts);

// new_name of each vertex (see relabelled()) that puts the vertices of a part side by side, in their old order.
TUTTI_API std::vector<vertex_t> order_by_part(std::span<const rank_t> part, rank_t parts);

// Edges between parts: a graph whose vertices are the parts and whose weights are the numbers of edges.
TUTTI_API csr quotient(const csr& graph, std::span<const rank_t> part, rank_t parts);

// The rank of each part, one to one, where ranks come in groups of `group` (the threads of a process, the ranks of a node)
// and edges within a group are cheap. Starts from the order that is given, joins parts that talk most, then exchanges pairs
// as long as that helps; never worse than rank = part.
TUTTI_API std::vector<rank_t> place(const csr& parts, rank_t group);
// Edges, by the weights of such a graph, that leave a group.
TUTTI_API double between_groups(const csr& parts, std::span<const rank_t> rank_of, rank_t group);

}  // namespace tutti::graph
