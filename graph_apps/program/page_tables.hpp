// SPDX-License-Identifier: Apache-2.0
// The tables of docs/graphs.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/platform/config.hpp"

namespace tutti::graph_apps {

struct page_plan {
  // Files or rules.
  std::vector<std::string> graphs;
  rank_t threads = 2;
  std::uint64_t iterations = 10;
  std::uint64_t rounds = 5;
  // Only the form of the tables: nothing is measured.
  bool is_form = false;
};

// Each function measures and returns a table.
//
// PageRank beside the ceiling on one thread and on as many as asked for: medians, in millions of
// edges a second, and their parts of the ceiling.
std::string pagerank_table(const page_plan& plan);
// Shortest paths beside delta-stepping and Dijkstra's algorithm: medians, in milliseconds.
std::string paths_table(const page_plan& plan);
// The applications in their modes on one graph: messages, and medians in milliseconds.
std::string applications_table(const page_plan& plan);
// Combined messages and others on one graph: packets, and medians in milliseconds.
std::string combining_table(const page_plan& plan);

}  // namespace tutti::graph_apps
