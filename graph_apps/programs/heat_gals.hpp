// SPDX-License-Identifier: Apache-2.0
// heat.hpp without a barrier between the steps, with the same bits. The edges must be those of a
// symmetric graph; edges that were added to make it symmetric have weight 0.
#pragma once

#include "graph_apps/programs/heat.hpp"
#include "graph_apps/programs/neighbours.hpp"

namespace tutti::graph_apps {

struct heat_gals {
  static constexpr bool needs_symmetric = true;
  struct state {
    in_step<std::int64_t> in;
    double temperature = 0;
  };
  using edge = float;
  struct message {
    double temperature;
    std::uint32_t parity;
  };
  using vertex = graph::vertex<heat_gals>;

  heat_setting setting;

  void init(vertex& v) const {
    v->temperature = setting.initial[v.id()];
    if (setting.steps > 0) v.ready_to_send(graph::pin(0));
  }
  void send(vertex& v, message& m) const {
    m = {v->temperature, v->in.parity()};
    v->in.has_sent = true;
    v.ready_to_send(graph::no_pin);
    go_on(v);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    v->in.bucket(m.parity) += setting.scale.units(double{e} * m.temperature);
    go_on(v);
  }
  bool step(vertex&) const { return false; }
  bool finish(vertex& v, message& m) const {
    m = {v->temperature, 0};
    return true;
  }

 private:
  void go_on(vertex& v) const {
    if (!v->in.complete(v.in_degree())) return;
    v->temperature = cooled(setting, v.id(), v->temperature, v->in.now());
    v->in.advance();
    if (v->in.step < setting.steps) v.ready_to_send(graph::pin(0));
  }
};

}  // namespace tutti::graph_apps
