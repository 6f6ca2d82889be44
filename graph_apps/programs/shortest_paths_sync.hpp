// SPDX-License-Identifier: Apache-2.0
// Shortest paths from one vertex in rounds: in a time step each vertex whose distance has shrunk
// tells its neighbours once. After step k the distances are those of the paths with at most k
// edges; there are at most n steps.
// Source: Bellman, "On a routing problem" (1958).
#pragma once

#include <limits>

#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

struct shortest_paths_sync {
  struct state {
    float distance = std::numeric_limits<float>::infinity();
    // The shortest distance found in this step.
    float found = std::numeric_limits<float>::infinity();
  };
  // The weight, which must not be negative.
  using edge = float;
  using message = float;
  using vertex = graph::vertex<shortest_paths_sync>;

  graph::vertex_t source = 0;

  void init(vertex& v) const {
    if (v.id() != source) return;
    v->distance = v->found = 0;
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->distance;
    v.ready_to_send(graph::no_pin);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    if (m + e < v->found) v->found = m + e;
  }
  message along(const message& m, const edge& e) const { return m + e; }
  void combine(message& kept, const message& more) const { kept = more < kept ? more : kept; }
  bool step(vertex& v) const {
    if (!(v->found < v->distance)) return false;
    v->distance = v->found;
    v.ready_to_send(graph::pin(0));
    return true;
  }
  bool finish(vertex& v, message& m) const {
    m = v->distance;
    return true;
  }
};

}  // namespace tutti::graph_apps
