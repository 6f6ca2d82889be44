// SPDX-License-Identifier: Apache-2.0
// A spiking network with one millisecond per time step. Only neurons that fire send. With `record`
// they also tell the host.
#pragma once

#include "graph_apps/programs/neuron.hpp"
#include "tutti/graph/vertex.hpp"

namespace tutti::graph_apps {

// A message to the host is a spike's step or, at the end, spikes | step of the last one << 32. To
// neighbours only the arrival of the message matters.
using spike_message = std::uint64_t;
inline spike_message summary_of(const neuron& n) noexcept {
  return n.spikes == 0 ? 0 : n.spikes | std::uint64_t{n.last} << 32;
}
// Marks the step of a spike, to distinguish it from a summary, whose steps have 31 bits.
inline constexpr std::uint64_t spike_flag = std::uint64_t{1} << 63;

struct spiking {
  struct state {
    neuron cell;
    std::int64_t input = 0;
  };
  using edge = current_t;
  using message = spike_message;
  using vertex = graph::vertex<spiking>;

  spiking_network net;
  bool record = false;

  void init(vertex& v) const { v->cell.init(net, v.id()); }
  void send(vertex& v, message& m) const {
    const bool tells_host = v.ready_to_send() == graph::host_pin;
    m = v->cell.last | spike_flag;
    v.ready_to_send(record && !tells_host ? graph::host_pin : graph::no_pin);
  }
  void recv(vertex& v, const message&, const edge& e) const { v->input += e; }
  bool step(vertex& v) const {
    if (v.time() >= net.steps) return false;
    const bool fires = v->cell.step(net, v.id(), v.time(), v->input);
    v->input = 0;
    const bool is_last = v.time() + 1 == net.steps;
    if (fires && !is_last) v.ready_to_send(graph::pin(0));
    if (fires && is_last && record) v.ready_to_send(graph::host_pin);
    return !is_last;
  }
  bool finish(vertex& v, message& m) const {
    m = summary_of(v->cell);
    return true;
  }
};

}  // namespace tutti::graph_apps
