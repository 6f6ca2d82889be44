// SPDX-License-Identifier: Apache-2.0
// The applications as plain loops of one thread, with which a message-passing run is compared. If
// an application promises the same bits in all modes, its loop does the same arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph_apps/arguments.hpp"
#include "graph_apps/programs/breadth_first.hpp"
#include "graph_apps/programs/heat.hpp"
#include "graph_apps/programs/neuron.hpp"
#include "graph_apps/programs/reach.hpp"
#include "graph_apps/settings.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::graph_apps::sequential {

struct pagerank_result {
  std::vector<share_t> ranks;
  // The number of iterations made.
  std::uint64_t iterations = 0;
};
pagerank_result pagerank(const graph::csr& graph, const pagerank_setting& setting);

// Dijkstra's algorithm with a binary heap. Precondition: no negative weights.
std::vector<float> shortest_paths(const graph::csr& graph, graph::vertex_t source);

std::vector<way> breadth_first(const graph::csr& graph, graph::vertex_t source);

// The lowest vertex of each vertex's component, whichever way the edges point.
std::vector<graph::vertex_t> components(const graph::csr& graph);

// Breadth-first search from up to 64 sources at a time, only through vertices that have news.
std::vector<reached> multi_source(const graph::csr& graph,
                                  std::span<const graph::vertex_t> sources);

struct spiking_result {
  std::vector<neuron> neurons;
  std::vector<spike> spikes;
};
spiking_result spiking(const graph::csr& graph, std::span<const current_t> currents,
                       const spiking_network& net, bool record);

std::vector<double> heat(const graph::csr& graph, const heat_setting& setting);

}  // namespace tutti::graph_apps::sequential
