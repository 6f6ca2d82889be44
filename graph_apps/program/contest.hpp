// SPDX-License-Identifier: Apache-2.0
// What tutti-graph-compare compares: contenders that do the same work on one graph, in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph_apps/settings.hpp"

namespace tutti::graph_apps {

struct contender {
  std::string name;
  // Runs it once and returns the seconds.
  std::function<double()> seconds;
  // The edges that a run reads, for rates.
  double edges;
  // Shared memory without messages.
  bool is_ceiling = false;
  std::vector<double> times = {};

  double median() const;
};

// All contenders take turns in each round. Another one begins in every round.
void take_turns(std::vector<contender>& all, std::uint64_t rounds);

// The ceiling's pull, then PageRank with contents of 4 bytes, and in the three modes.
std::vector<contender> pagerank_contenders(const graph::csr& graph, rank_t threads,
                                           std::uint64_t iterations);
// Delta-stepping, then the three modes of shortest paths, from the vertex with the most edges. The
// graph needs weights.
std::vector<contender> paths_contenders(const graph::csr& graph, rank_t threads);

// Reads or makes a graph.
graph::csr graph_of(const std::string& file_or_rule, rank_t threads);

}  // namespace tutti::graph_apps
