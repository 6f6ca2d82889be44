// SPDX-License-Identifier: Apache-2.0
// PageRank without a barrier between iterations: a vertex goes on when its neighbours' ranks have
// arrived. The bits are those of pagerank.hpp. The edges must be those of a symmetric graph; edges
// that were added to make it symmetric carry 0, the others 1.
#pragma once

#include "graph_apps/programs/exact.hpp"
#include "graph_apps/programs/neighbours.hpp"
#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

struct pagerank_gals {
  static constexpr bool needs_symmetric = true;
  struct state {
    in_step<share_t> in;
    share_t rank = 0;
    // Edges of the graph itself.
    std::uint32_t degree = 0;
  };
  using edge = float;
  struct message {
    share_t share;
    std::uint32_t parity;
  };
  using vertex = graph::vertex<pagerank_gals>;

  std::uint64_t iterations = 20;
  share_t damping = share_of(0.85);
  share_t first = 0;
  share_t base = 0;
  // Shares are rounded as pagerank_single sends them.
  bool single = false;
  // The graph without the added edges.
  const graph::csr* original = nullptr;

  void init(vertex& v) const {
    v->rank = first;
    v->degree = static_cast<std::uint32_t>(original->degree(v.id()));
    if (iterations > 0) v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = {v->degree == 0 ? 0 : part_of(v->rank, v->degree, single), v->in.parity()};
    v->in.has_sent = true;
    v.ready_to_send(graph::no_pin);
    go_on(v);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    v->in.bucket(m.parity) += e != 0 ? m.share : 0;
    go_on(v);
  }
  bool step(vertex&) const { return false; }
  bool finish(vertex& v, message& m) const {
    m = {rounded(v->rank, single), 0};
    return true;
  }

 private:
  void go_on(vertex& v) const {
    if (!v->in.complete(v.in_degree())) return;
    v->rank = base + product(damping, v->in.now());
    v->in.advance();
    if (v->in.step < iterations) v.ready_to_send(graph::pin(0));
  }
};

}  // namespace tutti::graph_apps
