// SPDX-License-Identifier: Apache-2.0
// Breadth-first search from one vertex: a vertex tells its neighbours as soon as it has found a
// shorter way, as in shortest_paths.hpp. The parent of a vertex is the one with the lowest number
// of those that are one edge nearer to the source, so the result is the same for every order.
#pragma once

#include <cstdint>
#include <limits>

#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

// A way to a vertex: its number of edges, and the vertex before it.
struct way {
  std::uint32_t distance = std::numeric_limits<std::uint32_t>::max();
  graph::vertex_t parent = graph::no_vertex;

  bool is_found() const noexcept { return parent != graph::no_vertex; }
  // Whether it has fewer edges, or as many and comes from a lower vertex.
  bool is_before(const way& other) const noexcept {
    return distance != other.distance ? distance < other.distance : parent < other.parent;
  }
};

// The base of the programs that search from one vertex: how they begin, send and end.
template <class Program>
struct search_from_one {
  using state = way;
  using edge = graph::nothing;
  // The sender and its distance.
  using message = way;
  using vertex = graph::vertex<Program>;

  graph::vertex_t source = 0;

  void init(vertex& v) const {
    if (v.id() != source) return;
    v.state() = {0, source};
    v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = {v->distance, v.id()};
    v.ready_to_send(graph::no_pin);
  }
  bool finish(vertex& v, message& m) const {
    m = v.state();
    return true;
  }
};

struct breadth_first : search_from_one<breadth_first> {
  void recv(vertex& v, const message& m, const edge&) const {
    const std::uint32_t found = m.distance + 1;
    if (found < v->distance) {
      v.state() = {found, m.parent};
      v.ready_to_send(graph::pin(0));
    } else if (found == v->distance && m.parent < v->parent) {
      v->parent = m.parent;
    }
  }
  void combine(message& kept, const message& more) const {
    if (more.is_before(kept)) kept = more;
  }
  bool step(vertex&) const { return false; }
};

}  // namespace tutti::graph_apps
