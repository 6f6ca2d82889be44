// SPDX-License-Identifier: Apache-2.0
// Vertex programs of the library's applications on the machine: the results are those of the host's
// engine, with the detector in hardware and with one in software. TUTTI_MACHINE_IMAGES is the
// folder of the images.
#include <gtest/gtest.h>

#include "graph_apps/programs/exact.hpp"
#include "hardware/machine/sim/graph_run.hpp"

namespace {

using namespace tutti::machine;
using tutti::rtl::detection;
using tutti::rtl::graph_program;

const std::string folder = TUTTI_MACHINE_IMAGES;
constexpr graph_program programs[] = {graph_program::paths,    graph_program::paths_sync,
                                      graph_program::pagerank, graph_program::pagerank_gals,
                                      graph_program::heat,     graph_program::pagerank_residual};

TEST(VertexPrograms, GiveTheHostsResults) {
  for (const graph_program program : programs) {
    for (const detection by : {detection::hardware, detection::tree}) {
      for (const unsigned sockets : {1u, 4u}) {
        // It computes for long: its vertices multiply doubles in software.
        if (program == graph_program::heat && sockets == 4) continue;
        graph_run run{
            .program = program, .detection = by, .sockets = sockets, .vertices = 24, .chords = 2};
        const graph_figures f = run_graph(folder, run);
        EXPECT_GT(f.messages, 0u);
        // An asynchronous program ends with the second detection, whose votes are those of step().
        const bool is_synchronous =
            program != graph_program::paths && program != graph_program::pagerank_gals;
        if (is_synchronous)
          EXPECT_GT(f.detections, 3u) << name_of(program);
        else
          EXPECT_EQ(f.detections, 2u) << name_of(program);
      }
    }
  }
}

TEST(VertexPrograms, GiveTheHostsResultsOnOneCoreAndOnUnevenParts) {
  run_graph(folder, {.program = graph_program::paths, .cores = 3, .vertices = 20, .seed = 5});
  run_graph(folder, {.program = graph_program::pagerank, .cores = 1, .vertices = 20, .seed = 5});
}

// The worst case: with the newest news first, both vertices of component k send 2^k times, and so
// does the last one of the chain; with the oldest first, each sends once.
TEST(VertexPrograms, TakeExponentiallyManySendsInTheWorstOrderOnly) {
  const auto sends = [](std::uint32_t components, bool newest_first) {
    return run_graph(folder, {.program = graph_program::paths,
                              .cores = 1,
                              .vertices = 2 * components + 1,
                              .chords = 0,
                              .newest_first = newest_first})
        .sends;
  };
  EXPECT_EQ(sends(4, true), 2 * 15u + 16u);
  EXPECT_EQ(sends(8, true), 2 * 255u + 256u);
  EXPECT_EQ(sends(8, false), 17u);
}

TEST(ExactShares, HaveTheSameProductOnAMachineWithout128Bits) {
  using namespace tutti::graph_apps;
  share_t x = 88172645463325252u;
  for (int i = 0; i < 10'000; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    const share_t a = x >> (2 + i % 40), b = (x * 2862933555777941757u) >> (2 + i % 7);
    ASSERT_EQ(product_of_halves(a, b), product(a, b)) << a << " " << b;
  }
  EXPECT_EQ(product_of_halves(whole_share, whole_share), whole_share);
}

}  // namespace
