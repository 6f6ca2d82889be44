// SPDX-License-Identifier: Apache-2.0
// Vertex programs of the library's applications on several hardware threads a core: the results are
// those of the host's engine. TUTTI_MACHINE_IMAGES is the folder of the images.
#include <gtest/gtest.h>

#include "hardware/machine/sim/graph_run.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::detection;
using tutti::rtl::graph_program;

const std::string folder = TUTTI_MACHINE_IMAGES;

TEST(VertexPrograms, GiveTheHostsResultsOnSeveralThreadsACore) {
  for (const graph_program program :
       {graph_program::paths, graph_program::paths_sync, graph_program::pagerank,
        graph_program::pagerank_gals, graph_program::heat, graph_program::pagerank_residual})
    for (const detection by : {detection::hardware, detection::tree}) {
      if (by == detection::tree && program != graph_program::paths) continue;
      const bool is_long = program == graph_program::heat;
      const graph_figures f = run_graph(folder, {.program = program,
                                                 .detection = by,
                                                 .cores = 16,
                                                 .threads = 4,
                                                 .vertices = is_long ? 16u : 32u,
                                                 .chords = is_long ? 1u : 2u});
      EXPECT_GT(f.messages, 0u);
    }
}

}  // namespace
