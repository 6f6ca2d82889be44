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
#include "hardware/machine/software/graph/graph_image.hpp"

namespace tutti::rtl {
namespace {

// The setting of heat.
double* temperatures;
double* in_weights;

void make_temperatures() {
  temperatures = make_array<double>(all.vertices);
  in_weights = make_array<double>(all.vertices);
  for (std::uint32_t v = 0; v < all.vertices; ++v) {
    temperatures[v] = first_temperature(v);
    for (std::uint32_t e = all.first[v]; e < all.first[v + 1]; ++e)
      in_weights[all.targets[e]] += static_cast<double>(all.weights[e]);
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
