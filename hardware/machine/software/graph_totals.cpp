// SPDX-License-Identifier: Apache-2.0
// The vertex program with an aggregator, in an image of its own: parameters and trace are those of
// graphs.cpp.
#include "hardware/machine/software/graph/graph_image.hpp"
#include "hardware/machine/software/graph/pagerank_residual.hpp"

extern "C" std::uint32_t thread_main(std::uint32_t) {
  using namespace tutti::rtl;
  if (this_core() == 0) {
    empty_heap();
    make_graph();
  }
  start_gate.pass(CORES);
  const auto damping = tutti::graph_apps::share_of(0.85);
  run_detected(pagerank_residual{damping, tutti::graph_apps::whole_share / all.vertices,
                                 (tutti::graph_apps::whole_share - damping) / all.vertices,
                                 pagerank_tolerance});
  return 0;
}
