// SPDX-License-Identifier: Apache-2.0
// Vertex programs of graph_apps, unchanged, on the machine's engine. Parameters: program
// (small_graph.hpp: graph_program), A: vertices, B: chords of a vertex, algorithm: detection,
// delay: the tree's fan-out, seed. Each core traces its cycles, the detections, its sends and
// messages, and then the results of its vertices: the number of the vertex and the halves of the
// words of its last message.
#include "graph_apps/programs/heat.hpp"
#include "graph_apps/programs/pagerank.hpp"
#include "graph_apps/programs/pagerank_gals.hpp"
#include "graph_apps/programs/shortest_paths.hpp"
#include "graph_apps/programs/shortest_paths_sync.hpp"
#include "hardware/machine/software/graph/engine.hpp"
#include "hardware/machine/software/graph/pagerank_residual.hpp"
#include "hardware/machine/software/graph/tree_idle.hpp"
#include "hardware/machine/software/platform.hpp"
#include "hardware/machine/software/small_graph.hpp"

namespace tutti::rtl {
namespace {

gate start_gate;
alignas(cache_line) graph::csr all;
// The setting of heat.
double* temperatures;
double* in_weights;

void value(std::uint32_t v) { trace(TRACE_VALUE, v); }

void make_graph() {
  const small_graph shape{PARAMETER(PARAM_A), PARAMETER(PARAM_B), PARAMETER(PARAM_A) / 2 - 1,
                          PARAMETER(PARAM_SEED)};
  const std::uint32_t n = shape.vertices;
  all.vertices = n;
  all.first = make_array<std::uint32_t>(n + 1);
  std::uint32_t edges = 0;
  shape.for_each_edge([&](std::uint32_t from, std::uint32_t, float) {
    ++all.first[from];
    ++edges;
  });
  all.targets = make_array<graph::vertex_t>(edges);
  all.weights = make_array<float>(edges);
  // Where the next edge of a vertex goes: in the end, where those of the next vertex begin.
  std::uint32_t begin = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    const std::uint32_t count = all.first[v];
    all.first[v] = begin;
    begin += count;
  }
  shape.for_each_edge([&](std::uint32_t from, std::uint32_t to, float weight) {
    const std::uint32_t at = all.first[from]++;
    all.targets[at] = to;
    all.weights[at] = weight;
  });
  for (std::uint32_t v = n; v > 0; --v) all.first[v] = all.first[v - 1];
  all.first[0] = 0;
}

void make_temperatures() {
  temperatures = make_array<double>(all.vertices);
  in_weights = make_array<double>(all.vertices);
  for (std::uint32_t v = 0; v < all.vertices; ++v) {
    temperatures[v] = first_temperature(v);
    for (std::uint32_t e = all.first[v]; e < all.first[v + 1]; ++e)
      in_weights[all.targets[e]] += static_cast<double>(all.weights[e]);
  }
}

struct result {
  graph::vertex_t vertex;
  std::uint32_t words[4];
};

template <class Program, class Idle>
void run(const Program& program, Idle& detector) {
  result* results = nullptr;
  std::uint32_t count = 0;
  const auto host = [&](graph::vertex_t v, const typename Program::message& last) {
    results[count].vertex = v;
    __builtin_memcpy(results[count++].words, &last, sizeof last);
  };
  using engine_type = vertex_engine<Program, Idle, decltype(host)>;
  results = make_array<result>(all.vertices);
  engine_type engine(program, all, detector, host, PARAMETER(PARAM_POLICY) == 1);
  start_gate.pass(CORES);
  const std::uint32_t start = cycles();
  engine.run();
  value(cycles() - start);
  value(engine.detections());
  value(engine.sends());
  value(engine.messages());
  for (std::uint32_t i = 0; i < count; ++i) {
    value(results[i].vertex);
    for (std::size_t w = 0; w < (sizeof(typename Program::message) + 3) / 4; ++w) {
      value(results[i].words[w] & 0xffff);
      value(results[i].words[w] >> 16);
    }
  }
}

template <class Program>
void run_detected(const Program& program) {
  mailbox box;
  if (static_cast<detection>(PARAMETER(PARAM_ALGORITHM)) == detection::hardware) {
    hardware_idle detector;
    run(program, detector);
  } else {
    if constexpr (aggregating_program<Program>) {
      tree_idle<Program::total> detector(PARAMETER(PARAM_DELAY));
      run(program, detector);
    } else {
      tree_idle<> detector(PARAMETER(PARAM_DELAY));
      run(program, detector);
    }
  }
}

void run_program() {
  const auto which = static_cast<graph_program>(PARAMETER(PARAM_PROGRAM));
  if (this_core() == 0) {
    empty_heap();
    make_graph();
    if (which == graph_program::heat) make_temperatures();
  }
  start_gate.pass(CORES);
  const std::uint32_t n = all.vertices;
  const graph_apps::share_t first = graph_apps::whole_share / n;
  const graph_apps::share_t damping = graph_apps::share_of(0.85);
  const graph_apps::share_t base = (graph_apps::whole_share - damping) / n;
  switch (which) {
    case graph_program::paths: return run_detected(graph_apps::shortest_paths{0});
    case graph_program::paths_sync: return run_detected(graph_apps::shortest_paths_sync{0});
    case graph_program::pagerank:
      return run_detected(graph_apps::pagerank{pagerank_iterations, damping, first, base, 0});
    case graph_program::pagerank_residual:
      return run_detected(pagerank_residual{damping, first, base, pagerank_tolerance});
    case graph_program::heat:
      return run_detected(graph_apps::heat{{heat_steps,
                                            heat_step,
                                            0,
                                            {temperatures, n},
                                            {in_weights, n},
                                            graph_apps::fixed_scale(heat_bound)}});
    default:
      return run_detected(
          graph_apps::pagerank_gals{pagerank_iterations, damping, first, base, false, &all});
  }
}

}  // namespace
}  // namespace tutti::rtl

extern "C" std::uint32_t thread_main(std::uint32_t) {
  tutti::rtl::run_program();
  return 0;
}
