// SPDX-License-Identifier: Apache-2.0
// spiking.hpp without a barrier between milliseconds: every neuron tells its neighbours in every
// step whether it has fired. The spikes are the same. The edges must be those of a symmetric graph;
// edges that were added to make it symmetric carry no current.
#pragma once

#include "graph_apps/programs/neighbours.hpp"
#include "graph_apps/programs/spiking.hpp"

namespace tutti::graph_apps {

struct spiking_gals {
  static constexpr bool needs_symmetric = true;
  struct state {
    neuron cell;
    in_step<std::int64_t> in;
    bool fired = false;
    // The host is still to get the spike of the last message.
    bool host_waits = false;
    bool has_to_send = false;
    // The step of that spike.
    std::uint64_t told = 0;
  };
  using edge = current_t;
  struct message {
    spike_message content;
    std::uint32_t parity;
    std::uint32_t fired;
  };
  using vertex = graph::vertex<spiking_gals>;

  spiking_network net;
  bool record = false;

  void init(vertex& v) const {
    v->cell.init(net, v.id());
    if (net.steps > 0) live(v, 0);
    choose(v);
  }
  void send(vertex& v, message& m) const {
    if (v.ready_to_send() == graph::host_pin) {
      m = {v->told | spike_flag, 0, 1};
      v->host_waits = false;
    } else {
      m = {0, v->in.parity(), v->fired};
      v->in.has_sent = true;
      v->has_to_send = false;
      tell_host(v);
    }
    go_on(v);
    choose(v);
  }
  void recv(vertex& v, const message& m, const edge& e) const {
    v->in.bucket(m.parity) += m.fired != 0 ? e : 0;
    go_on(v);
    choose(v);
  }
  bool step(vertex&) const { return false; }
  bool finish(vertex& v, message& m) const {
    m = {summary_of(v->cell), 0, 0};
    return true;
  }

 private:
  // The spikes of the last step go only to the host.
  void live(vertex& v, std::int64_t input) const {
    v->fired = v->cell.step(net, v.id(), v->in.step, input);
    if (v->in.step + 1 < net.steps)
      v->has_to_send = true;
    else
      tell_host(v);
  }
  void tell_host(vertex& v) const {
    if (!record || !v->fired) return;
    v->host_waits = true;
    v->told = v->in.step;
  }
  void go_on(vertex& v) const {
    // The last spike would overwrite this one.
    if (v->host_waits && v->in.step + 2 == net.steps) return;
    if (!v->in.complete(v.in_degree())) return;
    const std::int64_t input = v->in.now();
    v->in.advance();
    live(v, input);
  }
  // The host's message goes first, so that the next spike cannot overtake it.
  static void choose(vertex& v) {
    v.ready_to_send(v->host_waits    ? graph::host_pin
                    : v->has_to_send ? graph::pin(0)
                                     : graph::no_pin);
  }
};

}  // namespace tutti::graph_apps
