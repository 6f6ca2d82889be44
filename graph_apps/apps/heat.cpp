// SPDX-License-Identifier: Apache-2.0
// The application heat: Newton's law of cooling along the edges, in each mode.
#include "graph_apps/programs/heat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/apps/processes.hpp"
#include "graph_apps/arguments.hpp"
#include "graph_apps/programs/heat_gals.hpp"
#include "graph_apps/programs/noise.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

constexpr double hot = 100;

// Sources are hot and all other vertices are at 0; without sources each vertex has a random
// temperature.
std::vector<double> initial_temperatures(const vertex_range& here, const settings& s) {
  std::vector<double> made(here.count, 0.0);
  for (const graph::vertex_t v : s.sources)
    if (v - here.first < here.count) made[v - here.first] = hot;
  if (s.sources.empty())
    for (graph::vertex_t v = 0; v < here.count; ++v)
      made[v] = hot * uniform(s.seed, here.first + v, 0);
  return made;
}

void add_in_weights(std::span<const graph::vertex_t> targets, std::span<const float> weights,
                    double* sums) {
  for (std::size_t e = 0; e < targets.size(); ++e)
    sums[targets[e]] += weights.empty() ? 1.0 : double{weights[e]};
}
// The weights that lead to a vertex are added in the order of the whole graph's edges.
std::vector<double> in_weights_of(const graph_input& graph, const vertex_range& here) {
  std::vector<double> made(here.count, 0.0);
  if (graph.is_whole()) {
    add_in_weights(graph.whole().targets, graph.whole().weights, made.data());
    return made;
  }
  const graph::graph_share& share = graph.share();
  for (std::size_t i = 0; i < share.parts.size(); ++i)
    add_in_weights(share.parts[i].targets, share.parts[i].weights,
                   made.data() + (share.blocks[share.first + i] - here.first));
  return made;
}

template <class Program>
void run_messages(const graph_input& graph, const heat_setting& h, const settings& s,
                  vertex_values<double>& temperatures, outcome& o) {
  run_program(Program{h}, graph, s, o, [&](const auto& m) {
    if constexpr (requires { m.content.temperature; })
      temperatures[m.vertex] = m.content.temperature;
    else
      temperatures[m.vertex] = m.content;
  });
}

}  // namespace

outcome run_heat(const graph_input& graph, const settings& s) {
  require_no_negative_weight(graph, "heat");
  if (!s.sources.empty()) require_sources(graph, s.sources);
  const vertex_range here = vertices_here(graph);
  const std::vector<double> initial = initial_temperatures(here, s);
  const std::vector<double> in_weights = in_weights_of(graph, here);
  const double most = over_processes(
      graph, s, in_weights.empty() ? 0.0 : *std::max_element(in_weights.begin(), in_weights.end()),
      maximum{});
  heat_setting h;
  h.steps = s.steps;
  h.first = here.first;
  h.step = s.step != 0 ? s.step : most > 0 ? 0.5 / most : 1;
  h.initial = initial;
  h.in_weights = in_weights;
  h.scale = fixed_scale(hot * most);
  if (!(h.step > 0) || h.step * most > 1)
    refuse(fmt::format(
        "a time step of {} is out of range: the largest stable step on this graph is {}", h.step,
        most > 0 ? 1 / most : 1.0));

  outcome o;
  vertex_values<double> temperatures = values_here<double>(graph, s);
  if (s.mode == mode::sync) {
    run_messages<heat>(graph, h, s, temperatures, o);
  } else if (s.mode == mode::async) {
    const stopwatch watch;
    const graph::csr neighbours = neighbours_of(graph.whole(), true, std::max(1u, s.run.threads));
    o.prepare_seconds = watch.seconds();
    run_messages<heat_gals>(neighbours, h, s, temperatures, o);
  } else {
    temperatures.values = run_sequential(
        graph.whole(), o, [&](const graph::csr& g) { return sequential::heat(g, h); });
    o.statistics.time = s.steps;
  }
  // Multiples of a small unit, whose sum is the same however many processes add them.
  const fixed_scale in_all(hot * std::max<double>(1, graph.vertices()));
  std::int64_t sum = 0;
  for (const double each : temperatures.values) sum += in_all.units(each);
  sum = over_processes(graph, s, sum, plus{});
  o.summary = {
      {"time step", h.step},
      {"mean temperature", graph.vertices() == 0 ? 0 : in_all.number(sum) / graph.vertices()}};
  o.columns.push_back({"temperature", std::move(temperatures.values)});
  return o;
}

}  // namespace tutti::graph_apps
