// SPDX-License-Identifier: Apache-2.0
// Connected components in rounds: in a time step each vertex that has heard of a lower number tells
// its neighbours once. There are as many steps as the largest distance from the lowest vertex of a
// component, and one more. The edges must lead both ways.
#pragma once

#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

struct components_sync {
  struct state {
    graph::vertex_t lowest = graph::no_vertex;
    // The lowest number that came in this step.
    graph::vertex_t found = graph::no_vertex;
  };
  using edge = graph::nothing;
  using message = graph::vertex_t;
  using vertex = graph::vertex<components_sync>;

  void init(vertex& v) const {
    v->lowest = v->found = v.id();
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->lowest;
    v.ready_to_send(graph::no_pin);
  }
  void recv(vertex& v, const message& m, const edge&) const {
    if (m < v->found) v->found = m;
  }
  void combine(message& kept, const message& more) const { kept = more < kept ? more : kept; }
  bool step(vertex& v) const {
    if (v->found >= v->lowest) return false;
    v->lowest = v->found;
    v.ready_to_send(graph::pin(0));
    return true;
  }
  bool finish(vertex& v, message& m) const {
    m = v->lowest;
    return true;
  }
};

}  // namespace tutti::graph_apps
