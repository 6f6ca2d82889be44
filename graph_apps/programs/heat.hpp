// SPDX-License-Identifier: Apache-2.0
// Heat on a graph by Newton's law of cooling: over an edge of weight w from j to i, i gains w (T_j
// - T_i) per unit of time.
//
//   T_i(t + h) = T_i(t) + h * sum over edges j -> i of w (T_j(t) - T_i(t))       (explicit Euler)
//
// The method is stable while h times the sum of the weights that lead to a vertex is at most 1.
// Arriving values are added exactly, in multiples of a power of two, so every order of arrival
// gives the same bits.
#pragma once

#include <span>

#include "graph_apps/programs/exact.hpp"
#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

struct heat_setting {
  std::uint64_t steps = 100;
  // h.
  double step = 0;
  // The first vertex of `initial` and `in_weights`: not 0 if a process has a share of the graph.
  graph::vertex_t first = 0;
  // The temperature of each vertex.
  std::span<const double> initial;
  // The sum of the weights that lead to each vertex.
  std::span<const double> in_weights;
  // The scale for the largest temperature times the largest of these sums.
  fixed_scale scale{};
};

inline double cooled(const heat_setting& heat, graph::vertex_t id, double temperature,
                     std::int64_t arrived) noexcept {
  return temperature +
         heat.step * (heat.scale.number(arrived) - heat.in_weights[id - heat.first] * temperature);
}

struct heat {
  struct state {
    double temperature = 0;
    std::int64_t arrived = 0;
  };
  using edge = float;
  using message = double;
  using vertex = graph::vertex<heat>;

  heat_setting setting;

  void init(vertex& v) const {
    v->temperature = setting.initial[v.id() - setting.first];
    if (setting.steps > 0) v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = v->temperature;
    v.ready_to_send(graph::no_pin);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    v->arrived += setting.scale.units(double{e} * m);
  }
  bool step(vertex& v) const {
    if (v.time() >= setting.steps) return false;
    v->temperature = cooled(setting, v.id(), v->temperature, v->arrived);
    v->arrived = 0;
    if (v.time() + 1 == setting.steps) return false;
    v.ready_to_send(graph::pin(0));
    return true;
  }
  bool finish(vertex& v, message& m) const {
    m = v->temperature;
    return true;
  }
};

}  // namespace tutti::graph_apps
