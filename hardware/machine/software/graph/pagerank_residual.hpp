// SPDX-License-Identifier: Apache-2.0
// PageRank that ends when the ranks of all vertices together change by no more than a tolerance in
// an iteration: the usual test, for which all must know a sum. The iterations are those of
// graph_apps/programs/pagerank.hpp, to the bit. A vertex gives its change in units of 2^-30,
// rounded down, so that the sum of all changes, of at most 2, fits. It learns the sum one step
// later, when the messages of the next iteration have come, and drops them if that is small enough.
#pragma once

#include "graph_apps/programs/exact.hpp"
#include "hardware/machine/software/messages.hpp"
#include "tutti/graph/vertex.hpp"

namespace tutti::rtl {

struct pagerank_residual {
  struct state {
    graph_apps::share_t rank = 0;
  };
  using inbox = graph_apps::share_t;
  using edge = graph::nothing;
  using message = graph_apps::share_t;
  using vertex = graph::vertex<pagerank_residual>;
  static constexpr aggregator total = aggregator::sum;

  graph_apps::share_t damping, first, base;
  // In units of 2^-30.
  std::uint32_t tolerance;

  static constexpr std::uint32_t rounded(graph_apps::share_t change) noexcept {
    return static_cast<std::uint32_t>(change >> 32);
  }

  void init(vertex& v) const {
    v->rank = first;
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = graph_apps::part_of<message>(v->rank, v.out_degree());
    v.ready_to_send(graph::no_pin);
  }
  void gather(inbox& sum, const message& m, const edge&) const { sum += m; }
  bool step(vertex& v) const {
    if (v.time() != 0 && v.total() <= tolerance) return false;
    const graph_apps::share_t next = base + graph_apps::product(damping, v.inbox());
    v.give(rounded(next > v->rank ? next - v->rank : v->rank - next));
    v->rank = next;
    v.inbox() = 0;
    v.ready_to_send(graph::pin(0));
    return true;
  }
  bool finish(vertex& v, message& m) const {
    m = v->rank;
    return true;
  }
};

}  // namespace tutti::rtl
