// SPDX-License-Identifier: Apache-2.0
// Izhikevich's model of a neuron, and the description of a network of neurons.
//
//   v' = 0.04 v^2 + 5 v + 140 - u + I     u' = a (b v - u)
//   v >= 30 mV: a spike; v = c, u = u + d
//
// One step is 1 ms. By default v takes two half steps and u a whole one, as in the program of the
// paper; `euler` takes one step of both from the old values, which other simulators call Euler's
// method.
// Source: Izhikevich, "Simple model of spiking neurons" (2003).
#pragma once

#include <cstdint>

#include "graph_apps/programs/exact.hpp"
#include "graph_apps/programs/noise.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::graph_apps {

// Currents along edges in multiples of 2^-20. They are added exactly, so the order of arrival does
// not matter.
using current_t = std::int32_t;
inline constexpr double current_unit = 0x1p-20;

struct spiking_network {
  // Milliseconds.
  std::uint64_t steps = 1000;
  std::uint64_t seed = 1;
  // Neurons 0 .. excitatory-1 excite; the others inhibit.
  graph::vertex_t excitatory = 0;
  // 1: standard deviation 5 for excitatory and 2 for inhibitory neurons, as in the paper; 0: none.
  double noise = 1;
  // A constant current.
  double input = 0;
  // 0: all excitatory neurons are alike, and so are all inhibitory ones.
  double variety = 1;
  bool euler = false;
};

struct neuron {
  double v = -65, u = 0;
  float a = 0, b = 0, c = 0, d = 0;
  std::uint32_t spikes = 0;
  // The step of the last spike.
  std::uint32_t last = UINT32_MAX;

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

  // Makes one step. Returns true if the neuron fires. `synaptic` is the current from the spikes of
  // the step before.
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
