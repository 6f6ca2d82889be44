// SPDX-License-Identifier: Apache-2.0
// The plain loop of the application pagerank.
#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps::sequential {

pagerank_result pagerank(const graph::csr& graph, const pagerank_setting& setting) {
  std::vector<share_t> ranks(graph.vertices, setting.first), sums(graph.vertices);
  std::uint64_t done = 0;
  for (bool settled = false; done < setting.iterations && !settled; ++done) {
    for (graph::vertex_t v = 0; v < graph.vertices; ++v) {
      if (graph.degree(v) == 0) continue;
      const auto degree = static_cast<std::uint32_t>(graph.degree(v));
      const share_t share = part_of(ranks[v], degree, setting.single);
      for (const graph::vertex_t to : graph.out(v)) sums[to] += share;
    }
    settled = true;
    for (graph::vertex_t v = 0; v < graph.vertices; ++v) {
      const share_t next = setting.base + product(setting.damping, sums[v]);
      const share_t change = next > ranks[v] ? next - ranks[v] : ranks[v] - next;
      settled = settled && change <= setting.tolerance;
      ranks[v] = next;
      sums[v] = 0;
    }
  }
  for (share_t& rank : ranks) rank = rounded(rank, setting.single);
  return {std::move(ranks), done};
}

}  // namespace tutti::graph_apps::sequential
