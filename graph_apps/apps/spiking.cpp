// SPDX-License-Identifier: Apache-2.0
// The application spiking: a network of Izhikevich's neurons, in each mode.
#include "graph_apps/programs/spiking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/apps/processes.hpp"
#include "graph_apps/programs/spiking_gals.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

// Makes currents of the edges' weights or, as in Izhikevich's program, of random numbers: up to 0.5
// from an excitatory neuron, down to -1 from an inhibitory one. A random current depends on its two
// neurons alone, so a process with a share of the graph makes the same.
class synapse_maker {
 public:
  synapse_maker(const spiking_network& net, double coupling, bool weighted)
      : net_(net), coupling_(coupling), weighted_(weighted) {}

  float operator()(graph::vertex_t from, graph::vertex_t to, float given) const {
    const double weight = coupling_ * (weighted_ ? double{given} : random(from, to));
    if (!(std::abs(weight) <= 1000))
      refuse(fmt::format(
          "the current {} of the edge from {} to {} is out of range; it must be from -1000 to 1000",
          weight, from, to));
    return static_cast<float>(weight);
  }

 private:
  double random(graph::vertex_t from, graph::vertex_t to) const {
    // The noise of a neuron takes small numbers here, and its kind the largest one.
    return uniform(net_.seed, from, ~(std::uint64_t{to} + 1)) * (from < net_.excitatory ? 0.5 : -1);
  }

  const spiking_network& net_;
  double coupling_;
  bool weighted_;
};

graph::csr synapses_of(const graph::csr& graph, const spiking_network& net, double coupling) {
  const synapse_maker make(net, coupling, graph.weighted());
  graph::csr made = graph;
  graph::set_weights(made, [&](graph::vertex_t from, graph::vertex_t to, graph::edge_t e) {
    return make(from, to, graph.weighted() ? graph.weights[e] : 0);
  });
  return made;
}

// Puts the synapses into the share.
void make_synapses(graph::graph_share& share, const spiking_network& net, double coupling) {
  const synapse_maker make(net, coupling, share.weighted);
  for (std::size_t i = 0; i < share.parts.size(); ++i) {
    graph::participant_share& part = share.parts[i];
    if (!share.weighted) part.weights.resize(part.targets.size());
    const graph::vertex_t first = share.blocks[share.first + i];
    for (std::size_t list = 0; list < part.sources.size(); ++list)
      for (graph::edge_t e = part.first_target[list]; e < part.first_target[list + 1]; ++e)
        part.weights[e] = make(part.sources[list], first + part.targets[e], part.weights[e]);
  }
  share.weighted = true;
}

// The same, where the other processes cannot know of a current that is refused.
void make_synapses_or_end(graph::graph_share& share, const spiking_network& net,
                          const settings& s) {
  try {
    make_synapses(share, net, s.coupling);
  } catch (const std::exception& e) {
    if (s.on_failure) s.on_failure(e.what());
    throw;
  }
}

current_t current_of(float weight) {
  return static_cast<current_t>(std::lrint(double{weight} / current_unit));
}

template <class Message>
std::uint64_t content_of(const Message& m) {
  if constexpr (requires { m.parity; })
    return m.content;
  else
    return m;
}

struct found {
  vertex_values<std::uint64_t> counts;
  // -1: never.
  vertex_values<std::int64_t> last;
  std::vector<spike> spikes;

  found(const graph_input& graph, const settings& s)
      : counts(values_here<std::uint64_t>(graph, s)), last(values_here<std::int64_t>(graph, s)) {
    std::fill(last.values.begin(), last.values.end(), -1);
  }

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
void run_messages(const graph_input& synapses, const Program& program, const settings& s, found& f,
                  outcome& o) {
  run_program(
      program, synapses, s, o, [&](const auto& m) { f.host(m.vertex, content_of(m.content)); },
      true, current_of);
}

void run_sequential(const graph::csr& synapses, const spiking_network& net, const settings& s,
                    found& f, outcome& o) {
  const auto currents = edge_values<current_t>(synapses, current_of);
  auto made = run_sequential(synapses, o, [&](const graph::csr& g) {
    return sequential::spiking(g, currents, net, s.record);
  });
  o.statistics.time = net.steps;
  for (graph::vertex_t v = 0; v < synapses.vertices; ++v) f.summary(v, summary_of(made.neurons[v]));
  f.spikes = std::move(made.spikes);
}

// The first process gets the spikes of all.
void bring_spikes(std::vector<spike>& spikes, const settings& s) {
  std::vector<std::uint64_t> steps, neurons;
  for (const spike& each : spikes) {
    steps.push_back(each.step);
    neurons.push_back(each.neuron);
  }
  spikes.clear();
  gather_rows(*s.across, {{"step", std::move(steps)}, {"neuron", std::move(neurons)}},
              [&](const std::vector<column>& rows) {
                const auto& step = std::get<std::vector<std::uint64_t>>(rows[0].values);
                const auto& neuron = std::get<std::vector<std::uint64_t>>(rows[1].values);
                for (std::size_t i = 0; i < step.size(); ++i)
                  spikes.push_back({step[i], static_cast<graph::vertex_t>(neuron[i])});
              });
}

}  // namespace

outcome run_spiking(const graph_input& graph, const settings& s) {
  require(s.steps < (std::uint64_t{1} << 31), "the spiking network needs fewer than 2^31 steps");
  require(std::isfinite(s.noise) && std::isfinite(s.input) && std::isfinite(s.coupling) &&
              std::isfinite(s.variety),
          "noise, input, coupling and variety must be finite");
  spiking_network net;
  net.steps = s.steps;
  net.seed = s.seed;
  net.excitatory = static_cast<graph::vertex_t>(std::uint64_t{graph.vertices()} * 4 / 5);
  net.noise = s.noise;
  net.input = s.input;
  net.variety = s.variety;
  net.euler = s.euler;

  outcome o;
  found f(graph, s);
  const stopwatch watch;
  if (graph.is_whole()) {
    graph::csr synapses = synapses_of(graph.whole(), net, s.coupling);
    if (s.mode == mode::async)
      synapses = graph::symmetrized(synapses, 0.0f, std::max(1u, s.run.threads));
    o.prepare_seconds = watch.seconds();
    if (s.mode == mode::sync)
      run_messages(synapses, spiking{net, s.record}, s, f, o);
    else if (s.mode == mode::async)
      run_messages(synapses, spiking_gals{net, s.record}, s, f, o);
    else
      run_sequential(synapses, net, s, f, o);
  } else {
    make_synapses_or_end(graph.share(), net, s);
    o.prepare_seconds = watch.seconds();
    run_messages(graph, spiking{net, s.record}, s, f, o);
    if (s.record) bring_spikes(f.spikes, s);
  }

  std::sort(f.spikes.begin(), f.spikes.end(), [](const spike& a, const spike& b) {
    return std::pair(a.step, a.neuron) < std::pair(b.step, b.neuron);
  });
  double all = 0;
  for (const auto count : f.counts.values) all += static_cast<double>(count);
  all = over_processes(graph, s, all, plus{});
  const double neuron_seconds = 1e-3 * static_cast<double>(s.steps) * graph.vertices();
  o.summary = {{"spikes", all}, {"mean rate, Hz", neuron_seconds > 0 ? all / neuron_seconds : 0}};
  o.columns.push_back({"spikes", std::move(f.counts.values)});
  o.columns.push_back({"last", std::move(f.last.values)});
  o.spikes = std::move(f.spikes);
  return o;
}

}  // namespace tutti::graph_apps
