// SPDX-License-Identifier: Apache-2.0
// PageRank, one iteration per time step: every vertex sends its rank, divided by its out-degree,
// along all its edges.
//
//   rank(v) = (1 - d) / n + d * sum of rank(u) / out_degree(u) over the edges u -> v
//
// The rank of vertices without out-edges is lost here. Dividing all ranks by their sum at the end
// gives the ranks of the usual definition, in which that rank is spread evenly over all vertices:
// the fixed points of both are multiples of each other. Ranks are multiples of 2^-62 and are added
// exactly, so every order of arrival gives the same bits. Messages may carry them rounded.
// Source: Brin and Page, "The anatomy of a large-scale hypertextual web search engine" (1998).
#pragma once

#include <type_traits>

#include "graph_apps/programs/exact.hpp"
#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

// Content: share_t or float (exact.hpp).
template <class Content>
struct basic_pagerank {
  struct state {
    share_t rank = 0;
  };
  // The sum of what has arrived.
  using inbox = share_t;
  using edge = graph::nothing;
  using message = Content;
  using vertex = graph::vertex<basic_pagerank>;

  std::uint64_t iterations = 20;
  share_t damping = share_of(0.85);
  // The first rank of each vertex.
  share_t first = 0;
  // (1 - d) / n.
  share_t base = 0;
  // A vertex whose rank changes by no more than this has settled. The run ends when all have
  // settled.
  share_t tolerance = 0;

  void init(vertex& v) const {
    v->rank = first;
    if (iterations > 0) ask(v);
  }
  void send(vertex& v, message& m) const {
    m = part_of<Content>(v->rank, v.out_degree());
    v.ready_to_send(graph::no_pin);
  }
  void gather(inbox& sum, const message& m, const edge&) const { sum += share_in(m); }
  // A sum of rounded numbers would depend on their order.
  void combine(message& kept, const message& more) const requires std::is_same_v<Content, share_t> {
    kept += more;
  }
  bool step(vertex& v) const {
    if (v.time() >= iterations) return false;
    const share_t next = base + product(damping, v.inbox());
    const share_t change = next > v->rank ? next - v->rank : v->rank - next;
    v->rank = next;
    v.inbox() = 0;
    if (v.time() + 1 == iterations) return false;
    ask(v);
    return change > tolerance;
  }
  bool finish(vertex& v, message& m) const {
    m = content_of<Content>(v->rank);
    return true;
  }

 private:
  // Without a branch: which vertices have out-edges, a processor cannot guess.
  static void ask(vertex& v) {
    v.ready_to_send(v.out_degree() != 0 ? graph::pin(0) : graph::no_pin);
  }
};
using pagerank = basic_pagerank<share_t>;
using pagerank_single = basic_pagerank<float>;

}  // namespace tutti::graph_apps
