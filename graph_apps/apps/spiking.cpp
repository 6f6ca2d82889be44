// SPDX-License-Identifier: Apache-2.0
// The application spiking: a network of Izhikevich's neurons, in each mode.
#include "graph_apps/programs/spiking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/programs/spiking_gals.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

// The edges' weights, or random ones as in Izhikevich's program: up to 0.5 from an excitatory
// neuron, down to -1 from an inhibitory one. They are multiples of current_unit that a float holds
// exactly.
graph::csr synapses_of(const graph::csr& graph, const spiking_network& net, double coupling) {
  graph::csr made = graph;
  graph::set_weights(made, [&](graph::vertex_t from, graph::vertex_t to, graph::edge_t e) {
    double weight;
    if (graph.weighted())
      weight = graph.weights[e];
    else
      weight = uniform(net.seed, from, e) * (from < net.excitatory ? 0.5 : -1);
    weight *= coupling;
    if (!(std::abs(weight) < 1000))
      refuse(fmt::format(
          "the current {} of the edge from {} to {} is out of range; it must be at most 1000",
          weight, from, to));
    return static_cast<float>(weight);
  });
  return made;
}

std::vector<current_t> currents_of(const graph::csr& synapses) {
  std::vector<current_t> made;
  made.reserve(synapses.edges());
  for (const float w : synapses.weights)
    made.push_back(static_cast<current_t>(std::lrint(double{w} / current_unit)));
  return made;
}

template <class Message>
std::uint64_t content_of(const Message& m) {
  if constexpr (requires { m.parity; })
    return m.content;
  else
    return m;
}

struct found {
  std::vector<std::uint64_t> counts;
  // -1: never.
  std::vector<std::int64_t> last;
  std::vector<spike> spikes;

  explicit found(graph::vertex_t n) : counts(n), last(n, -1) {}

  void summary(graph::vertex_t v, std::uint64_t packed) {
    counts[v] = packed & UINT32_MAX;
    if (counts[v] != 0) last[v] = static_cast<std::int64_t>(packed >> 32);
  }
  void host(graph::vertex_t v, std::uint64_t content) {
    if ((content & spike_flag) != 0)
      spikes.push_back({content & ~spike_flag, v});
    else
      summary(v, content);
  }
};

template <class Program>
void run_messages(const graph::csr& synapses, const Program& program, const settings& s, found& f,
                  outcome& o) {
  const std::vector<current_t> currents = currents_of(synapses);
  run_program(
      program, synapses, s, o, [&](const auto& m) { f.host(m.vertex, content_of(m.content)); },
      true, std::span<const current_t>(currents));
}

void run_sequential(const graph::csr& synapses, const spiking_network& net, const settings& s,
                    found& f, outcome& o) {
  const std::vector<current_t> currents = currents_of(synapses);
  auto made = run_sequential(synapses, o, [&](const graph::csr& g) {
    return sequential::spiking(g, currents, net, s.record);
  });
  o.statistics.time = net.steps;
  for (graph::vertex_t v = 0; v < synapses.vertices; ++v) f.summary(v, summary_of(made.neurons[v]));
  f.spikes = std::move(made.spikes);
}

}  // namespace

outcome run_spiking(const graph_input& input, const settings& s) {
  const graph::csr& graph = input.whole();
  require(s.steps < (std::uint64_t{1} << 31), "the spiking network needs fewer than 2^31 steps");
  require(std::isfinite(s.noise) && std::isfinite(s.input) && std::isfinite(s.coupling) &&
              std::isfinite(s.variety),
          "noise, input, coupling and variety must be finite");
  spiking_network net;
  net.steps = s.steps;
  net.seed = s.seed;
  net.excitatory = static_cast<graph::vertex_t>(std::uint64_t{graph.vertices} * 4 / 5);
  net.noise = s.noise;
  net.input = s.input;
  net.variety = s.variety;
  net.euler = s.euler;

  outcome o;
  found f(graph.vertices);
  const stopwatch watch;
  graph::csr synapses = synapses_of(graph, net, s.coupling);
  if (s.mode == mode::async)
    synapses = graph::symmetrized(synapses, 0.0f, std::max(1u, s.run.threads));
  o.prepare_seconds = watch.seconds();
  if (s.mode == mode::sync)
    run_messages(synapses, spiking{net, s.record}, s, f, o);
  else if (s.mode == mode::async)
    run_messages(synapses, spiking_gals{net, s.record}, s, f, o);
  else
    run_sequential(synapses, net, s, f, o);

  std::sort(f.spikes.begin(), f.spikes.end(), [](const spike& a, const spike& b) {
    return std::pair(a.step, a.neuron) < std::pair(b.step, b.neuron);
  });
  double all = 0;
  for (const auto count : f.counts) all += static_cast<double>(count);
  const double neuron_seconds = 1e-3 * static_cast<double>(s.steps) * graph.vertices;
  o.summary = {{"spikes", all}, {"mean rate, Hz", neuron_seconds > 0 ? all / neuron_seconds : 0}};
  o.columns.push_back({"spikes", std::move(f.counts)});
  o.columns.push_back({"last", std::move(f.last)});
  o.spikes = std::move(f.spikes);
  return o;
}

}  // namespace tutti::graph_apps
