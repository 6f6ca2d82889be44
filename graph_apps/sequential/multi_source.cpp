// SPDX-License-Identifier: Apache-2.0
// The plain loop of the application mssp: breadth-first search, 64 sources at a time.
#include <algorithm>

#include "graph_apps/sequential/baselines.hpp"

namespace tutti::graph_apps::sequential {
namespace {

void batch(const graph::csr& graph, std::span<const graph::vertex_t> sources,
           std::vector<reached>& result) {
  using set = source_set<1>;
  std::vector<set> known(graph.vertices), fresh(graph.vertices), arrived(graph.vertices);
  std::vector<graph::vertex_t> front, next;
  const auto learn = [&](graph::vertex_t v, std::uint32_t distance) {
    const std::uint32_t count = fresh[v].keep_new(known[v]);
    result[v].add(count, distance);
    return count != 0;
  };

  for (std::size_t i = 0; i < sources.size(); ++i) fresh[sources[i]].insert(i);
  for (const graph::vertex_t v : sources)
    if (learn(v, 0)) front.push_back(v);
  // If a source is named twice, learn() has emptied its set the second time.
  for (std::size_t i = 0; i < sources.size(); ++i) fresh[sources[i]].insert(i);

  for (std::uint32_t distance = 1; !front.empty(); ++distance) {
    next.clear();
    for (const graph::vertex_t v : front)
      for (const graph::vertex_t to : graph.out(v)) {
        if (arrived[to].words[0] == 0) next.push_back(to);
        arrived[to] |= fresh[v];
      }
    std::erase_if(next, [&](graph::vertex_t v) {
      fresh[v] = arrived[v];
      arrived[v] = {};
      return !learn(v, distance);
    });
    std::swap(front, next);
  }
}

}  // namespace

std::vector<reached> multi_source(const graph::csr& graph,
                                  std::span<const graph::vertex_t> sources) {
  std::vector<reached> result(graph.vertices);
  for (std::size_t first = 0; first < sources.size(); first += 64)
    batch(graph, sources.subspan(first, std::min<std::size_t>(64, sources.size() - first)), result);
  return result;
}

}  // namespace tutti::graph_apps::sequential
