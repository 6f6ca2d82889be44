// SPDX-License-Identifier: Apache-2.0
// Runs of the vertex programs of software/graphs.cpp, whose results are compared with those of the
// library's engine on the host.
#pragma once

#include <cstdint>
#include <string>

#include "hardware/machine/sim/checked_run.hpp"
#include "hardware/machine/software/small_graph.hpp"

namespace tutti::machine {

struct graph_run {
  rtl::graph_program program = rtl::graph_program::paths;
  rtl::detection detection = rtl::detection::hardware;
  // Threads of all cores, and how many of them share one.
  unsigned cores = 4, sockets = 1, threads = 1;
  // Without chords, the worst case of shortest paths: see small_graph.
  std::uint32_t vertices = 64, chords = 3, seed = 1;
  // Vertices that asked last send first.
  bool newest_first = false;
  // The tree's, if that detects.
  std::uint32_t fan_out = 2;
};
const char* name_of(rtl::graph_program program);
const char* name_of(rtl::detection detection);

struct graph_figures {
  // From the common start to the end, of the slowest core.
  std::uint32_t cycles = 0;
  // Ends of a time step, of which the last is the run's.
  std::uint32_t detections = 0;
  // Sends of vertices, and messages between cores.
  std::uint32_t sends = 0, messages = 0;
  // Waves of the detector in hardware.
  std::size_t waves = 0;
};
// Throws std::runtime_error if the program fails, or a result differs from the host's.
graph_figures run_graph(const images& folder, const graph_run& what);

}  // namespace tutti::machine
