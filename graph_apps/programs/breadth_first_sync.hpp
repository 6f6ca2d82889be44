// SPDX-License-Identifier: Apache-2.0
// Breadth-first search from one vertex, one level per time step: a vertex that was reached in a
// step tells its neighbours once. Its parent is the lowest number of those that reached it.
// Source: Moore, "The shortest path through a maze" (1959).
#pragma once

#include "graph_apps/programs/breadth_first.hpp"

namespace tutti::graph_apps {

struct breadth_first_sync : search_from_one<breadth_first_sync> {
  // Sets only the parent; step() sets the distance, which is that of the step.
  void recv(vertex& v, const message& m, const edge&) const {
    // The vertex was reached in an earlier step.
    if (v->distance <= m.distance) return;
    if (m.parent < v->parent) v->parent = m.parent;
  }
  void combine(message& kept, const message& more) const {
    if (more.is_before(kept)) kept = more;
  }
  bool step(vertex& v) const {
    if (!v->is_found() || v->distance != way().distance) return false;
    v->distance = static_cast<std::uint32_t>(v.time() + 1);
    v.ready_to_send(graph::pin(0));
    return true;
  }
};

}  // namespace tutti::graph_apps
