// SPDX-License-Identifier: Apache-2.0
// Connected components: each vertex takes the lowest number that it hears of, and tells its
// neighbours as soon as it has a lower one. In the end a component has the number of its lowest
// vertex. The edges must lead both ways.
// Source: Rastogi et al., "Finding connected components in Map-Reduce in logarithmic rounds"
// (2013), where it is called Hash-Min.
#pragma once

#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

struct components {
  struct state {
    graph::vertex_t lowest = graph::no_vertex;
  };
  using edge = graph::nothing;
  using message = graph::vertex_t;
  using vertex = graph::vertex<components>;

  void init(vertex& v) const {
    v->lowest = v.id();
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->lowest;
    v.ready_to_send(graph::no_pin);
  }
  void recv(vertex& v, const message& m, const edge&) const {
    if (m >= v->lowest) return;
    v->lowest = m;
    v.ready_to_send(graph::pin(0));
  }
  void combine(message& kept, const message& more) const { kept = more < kept ? more : kept; }
  bool step(vertex&) const { return false; }
  bool finish(vertex& v, message& m) const {
    m = v->lowest;
    return true;
  }
};

}  // namespace tutti::graph_apps
