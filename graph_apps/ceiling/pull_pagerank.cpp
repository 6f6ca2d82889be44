// SPDX-License-Identifier: Apache-2.0
// PageRank by pulling: a vertex reads what its in-neighbours offer, so no two threads write the
// same place. Each iteration takes one pass over the edges with a random read of four bytes per
// edge, and one barrier; the offers, rank / out-degree, are written in the same pass. Each rank has
// a block of vertices with the same share of the edges.
// Source: Beamer, Asanovic and Patterson, "The GAP benchmark suite" (2015), Jacobi's form.
#include <algorithm>

#include "graph_apps/ceiling/ceiling.hpp"

namespace tutti::graph_apps::ceiling {
namespace {

// Four sums run side by side, because an addition takes longer than a load.
float gathered(const std::vector<float>& offers, const graph::vertex_t* from,
               const graph::vertex_t* end) {
  float sum[4] = {};
  for (; end - from >= 4; from += 4)
    for (int i = 0; i < 4; ++i) sum[i] += offers[from[i]];
  for (; from != end; ++from) sum[0] += offers[*from];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The first vertex of a block: the vertices and edges before it are the block's share of all.
graph::vertex_t first_of(const graph::csr& graph, rank_t rank, rank_t size) {
  const auto work = [&](graph::vertex_t v) { return graph.offsets[v] + 2 * graph::edge_t{v}; };
  const graph::edge_t goal = work(graph.vertices) / size * rank;
  graph::vertex_t low = 0, high = graph.vertices;
  while (low < high) {
    const graph::vertex_t middle = low + (high - low) / 2;
    if (work(middle) < goal)
      low = middle + 1;
    else
      high = middle;
  }
  return rank == size ? graph.vertices : low;
}

}  // namespace

std::vector<float> pull_pagerank(const graph::csr& graph, const graph::csr& transposed,
                                 std::uint64_t iterations, float damping, team& workers) {
  const graph::vertex_t n = graph.vertices;
  std::vector<float> ranks(n), offers(n), next(n), inverse(n);
  const float base = (1 - damping) / static_cast<float>(n);
  workers.run([&](member& me) {
    const graph::vertex_t first = first_of(transposed, me.rank(), me.size());
    const graph::vertex_t last = first_of(transposed, me.rank() + 1, me.size());
    for (graph::vertex_t v = first; v < last; ++v) {
      inverse[v] = graph.degree(v) == 0 ? 0 : 1 / static_cast<float>(graph.degree(v));
      ranks[v] = 1 / static_cast<float>(n);
      offers[v] = ranks[v] * inverse[v];
    }
    me.barrier();
    for (std::uint64_t i = 0; i < iterations; ++i) {
      const std::vector<float>& from = i % 2 == 0 ? offers : next;
      std::vector<float>& to = i % 2 == 0 ? next : offers;
      for (graph::vertex_t v = first; v < last; ++v) {
        const auto sources = transposed.out(v);
        ranks[v] = base + damping * gathered(from, sources.data(), sources.data() + sources.size());
        to[v] = ranks[v] * inverse[v];
      }
      me.barrier();
    }
  });
  return ranks;
}

}  // namespace tutti::graph_apps::ceiling
