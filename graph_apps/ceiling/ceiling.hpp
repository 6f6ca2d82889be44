// SPDX-License-Identifier: Apache-2.0
// The same problems without messages, with all memory shared: the upper limit for message passing
// within one machine. The code is tuned for speed alone; it computes in single precision, in
// whatever order the threads run.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph_apps::ceiling {

// Each vertex gathers from the sources of its in-edges, which `transposed` holds:
// graph::transpose(graph). The ranks are those of programs/pagerank.hpp before the division by
// their sum.
std::vector<float> pull_pagerank(const graph::csr& graph, const graph::csr& transposed,
                                 std::uint64_t iterations, float damping, team& workers);

// Delta-stepping: vertices at distances from k * delta to (k + 1) * delta are settled together, in
// any order. Good values of `delta` are a few mean weights divided by the mean degree.
// Precondition: no negative weights, delta > 0.
std::vector<float> stepping_paths(const graph::csr& graph, graph::vertex_t source, float delta,
                                  team& workers);

}  // namespace tutti::graph_apps::ceiling
