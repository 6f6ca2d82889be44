// SPDX-License-Identifier: Apache-2.0
// Shortest paths from one vertex: a vertex tells its neighbours as soon as it has found a shorter
// way. There are no steps; the run ends when no vertex has anything to tell. In the worst case this
// takes exponentially many messages; in real orders of arrival it takes a few per vertex. A vertex
// that finds two shorter ways before its turn to send sends once.
// The distances have the same bits for every order: rounding d + w never puts a shorter way behind
// a longer one.
// Source: Chandy and Misra, "Distributed computation on graphs: shortest path algorithms" (1982);
// Naylor et al. 2020, figure 4.
#pragma once

#include <limits>

#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

struct shortest_paths {
  struct state {
    float distance = std::numeric_limits<float>::infinity();
  };
  // The weight, which must not be negative.
  using edge = float;
  using message = float;
  using vertex = graph::vertex<shortest_paths>;

  graph::vertex_t source = 0;

  void init(vertex& v) const {
    if (v.id() != source) return;
    v->distance = 0;
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->distance;
    v.ready_to_send(graph::no_pin);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    const float found = m + e;
    if (!(found < v->distance)) return;
    v->distance = found;
    v.ready_to_send(graph::pin(0));
  }
  message along(const message& m, const edge& e) const { return m + e; }
  void combine(message& kept, const message& more) const { kept = more < kept ? more : kept; }
  bool step(vertex&) const { return false; }
  bool finish(vertex& v, message& m) const {
    m = v->distance;
    return true;
  }
};

}  // namespace tutti::graph_apps
