// SPDX-License-Identifier: Apache-2.0
// Izhikevich's model of a neuron, and what a network of them is made of.
//
//   v' = 0.04 v^2 + 5 v + 140 - u + I     u' = a (b v - u)     v >= 30 mV: a spike; v = c, u = u + d
//
// One step is 1 ms. By default v takes two half steps and u a whole one, as in the paper's program; `euler` takes one step
// of both from the old values, which is what other simulators call so.
// Source: Izhikevich, "Simple model of spiking neurons" (2003).
#pragma once

#include <cstdint>

#include "graph/programs/exact.hpp"
#include "graph/programs/noise.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::graph_apps {

// Currents along edges, in multiples of 2^-20: added exactly, so that the order of arrival does not matter.
using current_t = std::int32_t;
inline constexpr double current_unit = 0x1p-20;

struct spiking_network {
  std::uint64_t steps = 1000;  // ms
  std::uint64_t seed = 1;
  graph::vertex_t excitatory = 0;  // neurons 0 .. excitatory-1; the rest inhibit
  double noise =
      1;  // 1: deviation 5 for excitatory, 2 for inhibitory neurons, as in the paper; 0: none
  double input = 0;    // a constant current
  double variety = 1;  // 0: all excitatory neurons alike, and all inhibitory ones
  bool euler = false;
};

struct neuron {
  double v = -65, u = 0;
  float a = 0, b = 0, c = 0, d = 0;
  std::uint32_t spikes = 0;
  std::uint32_t last = UINT32_MAX;  // step of the last spike

  void init(const spiking_network& net, graph::vertex_t id) noexcept {
    const double r = net.variety * uniform(net.seed, id, UINT64_MAX);
    if (id < net.excitatory) {
      a = 0.02f, b = 0.2f, c = static_cast<float>(-65 + 15 * r * r),
      d = static_cast<float>(8 - 6 * r * r);
    } else {
      a = static_cast<float>(0.02 + 0.08 * r), b = static_cast<float>(0.25 - 0.05 * r), c = -65,
      d = 2;
    }
    u = double{b} * v;
  }

  // True if it fires. `synaptic`: what the spikes of the step before bring.
  bool step(const spiking_network& net, graph::vertex_t id, std::uint64_t time,
            std::int64_t synaptic) noexcept {
    const double deviation = id < net.excitatory ? 5 : 2;
    double current = net.input + static_cast<double>(synaptic) * current_unit;
    if (net.noise != 0) current += net.noise * deviation * normal(net.seed, id, time);
    const double old = v;
    if (net.euler) {
      v += 0.04 * old * old + 5 * old + 140 - u + current;
      u += double{a} * (double{b} * old - u);
    } else {
      v += 0.5 * (0.04 * v * v + 5 * v + 140 - u + current);
      v += 0.5 * (0.04 * v * v + 5 * v + 140 - u + current);
      u += double{a} * (double{b} * v - u);
    }
    if (v < 30) return false;
    v = double{c};
    u += double{d};
    ++spikes;
    last = static_cast<std::uint32_t>(time);
    return true;
  }
};

}  // namespace tutti::graph_apps
