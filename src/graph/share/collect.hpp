// SPDX-License-Identifier: Apache-2.0
// Makes a share from the edges of a graph, which it goes through two or three times.
#pragma once

#include <functional>

#include "src/graph/edge_sink.hpp"
#include "src/graph/generate/stream.hpp"
#include "tutti/graph/share.hpp"

namespace tutti::graph {

// Throws std::invalid_argument for a request that is not valid.
void check(const share_request& request);

graph_share share_of(const edge_stream& edges, const share_request& request);

// Goes through the file once to learn the number of vertices and their degrees, and to find all
// errors, before anything is kept.
graph_share share_of_file(const std::function<listed_graph(edge_sink& to)>& list,
                          const share_request& request);

}  // namespace tutti::graph
