// SPDX-License-Identifier: Apache-2.0
// The same problems without messages, with all memory shared: the ceiling that message passing inside one machine is
// measured against. Tuned for speed alone; results are those of single precision in whatever order the threads come.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph_apps::ceiling {

// Each vertex gathers from the sources of its in-edges. `transposed` has these: graph::transpose(graph). Ranks as in
// programs/pagerank.hpp, before they are divided by their sum.
std::vector<float> pull_pagerank(const graph::csr& graph, const graph::csr& transposed,
                                 std::uint64_t iterations, float damping, team& crew);

// Delta-stepping: vertices at distances of k * delta to (k + 1) * delta are settled together, each in any order. Good values
// of `delta` are some mean weights divided by the mean degree. Precondition: no negative weights, delta > 0.
std::vector<float> stepping_paths(const graph::csr& graph, graph::vertex_t source, float delta,
                                  team& crew);

}  // namespace tutti::graph_apps::ceiling
