// SPDX-License-Identifier: Apache-2.0
// The application heat: Newton's law of cooling along the edges, in each mode.
#include "graph_apps/programs/heat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph_apps/apps/common.hpp"
#include "graph_apps/programs/heat_gals.hpp"
#include "graph_apps/programs/noise.hpp"
#include "graph_apps/sequential/baselines.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph_apps {
namespace {

constexpr double hot = 100;

// Sources are hot and all other vertices are at 0; without sources each vertex has a random
// temperature.
std::vector<double> initial_temperatures(const graph::csr& graph, const settings& s) {
  std::vector<double> made(graph.vertices, 0.0);
  for (const graph::vertex_t v : s.sources) made[v] = hot;
  if (s.sources.empty())
    for (graph::vertex_t v = 0; v < graph.vertices; ++v) made[v] = hot * uniform(s.seed, v, 0);
  return made;
}

std::vector<double> in_weights_of(const graph::csr& graph) {
  std::vector<double> made(graph.vertices, 0.0);
  for (graph::edge_t e = 0; e < graph.edges(); ++e)
    made[graph.targets[e]] += graph.weighted() ? double{graph.weights[e]} : 1.0;
  return made;
}

template <class Program>
void run_messages(const graph::csr& graph, const heat_setting& h, const settings& s,
                  std::vector<double>& temperatures, outcome& o) {
  run_program(Program{h}, graph, s, o, [&](const auto& m) {
    if constexpr (requires { m.content.temperature; })
      temperatures[m.vertex] = m.content.temperature;
    else
      temperatures[m.vertex] = m.content;
  });
}

}  // namespace

outcome run_heat(const graph_input& input, const settings& s) {
  const graph::csr& graph = input.whole();
  require_no_negative_weight(graph, "heat");
  if (!s.sources.empty()) require_sources(graph, s.sources);
  const std::vector<double> initial = initial_temperatures(graph, s);
  const std::vector<double> in_weights = in_weights_of(graph);
  const double most =
      in_weights.empty() ? 0 : *std::max_element(in_weights.begin(), in_weights.end());
  heat_setting h;
  h.steps = s.steps;
  h.step = s.step != 0 ? s.step : most > 0 ? 0.5 / most : 1;
  h.initial = initial;
  h.in_weights = in_weights;
  h.scale = fixed_scale(hot * std::max(1.0, most));
  if (!(h.step > 0) || h.step * most > 1)
    refuse(fmt::format(
        "a time step of {} is out of range: the largest stable step on this graph is {}", h.step,
        most > 0 ? 1 / most : 1.0));

  outcome o;
  std::vector<double> temperatures(graph.vertices);
  if (s.mode == mode::sync) {
    run_messages<heat>(graph, h, s, temperatures, o);
  } else if (s.mode == mode::async) {
    const stopwatch watch;
    const graph::csr neighbours = neighbours_of(graph, true, std::max(1u, s.run.threads));
    o.prepare_seconds = watch.seconds();
    run_messages<heat_gals>(neighbours, h, s, temperatures, o);
  } else {
    temperatures =
        run_sequential(graph, o, [&](const graph::csr& g) { return sequential::heat(g, h); });
    o.statistics.time = s.steps;
  }
  const double sum = std::accumulate(temperatures.begin(), temperatures.end(), 0.0);
  o.summary = {{"time step", h.step},
               {"mean temperature",
                temperatures.empty() ? 0 : sum / static_cast<double>(temperatures.size())}};
  o.columns.push_back({"temperature", std::move(temperatures)});
  return o;
}

}  // namespace tutti::graph_apps
