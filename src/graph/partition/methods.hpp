// SPDX-License-Identifier: Apache-2.0
// One function per method. It is called with at least one part and at least one vertex.
#pragma once

#include <vector>

#include "tutti/graph/partition.hpp"

namespace tutti::graph {

std::vector<rank_t> in_blocks(const csr& graph, rank_t parts);
std::vector<rank_t> in_edge_blocks(const csr& graph, rank_t parts);
std::vector<rank_t> at_random(const csr& graph, rank_t parts, const partition_options& options);
enum class greedy { fennel, ldg };
std::vector<rank_t> streamed(const csr& graph, rank_t parts, const partition_options& options,
                             greedy rule);
std::vector<rank_t> by_metis(const csr& graph, rank_t parts, const partition_options& options);

// Throws std::invalid_argument unless `part` has one entry below `parts` per vertex.
void check_parts(vertex_t vertices, std::span<const rank_t> part, rank_t parts);

}  // namespace tutti::graph
