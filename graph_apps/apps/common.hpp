// SPDX-License-Identifier: Apache-2.0
// The part that the applications share: running a program in the requested mode, and filling in the
// outcome.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph_apps/settings.hpp"
#include "tutti/graph/partition.hpp"
#include "tutti/graph/run.hpp"
#include "tutti/graph/run_across.hpp"
#include "tutti/mpi/communicator.hpp"

namespace tutti::graph_apps {

class stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

template <graph::vertex_program Program>
graph::run_result<Program> run_where_asked(
    const Program& program, std::span<const graph::edge_set<typename Program::edge>> pins,
    const settings& s) {
  if (s.across == nullptr) return graph::run(program, pins, s.run);
  const auto owners = graph::partition(*pins[0].edges, s.across->size(), s.run.partition);
  return graph::run_across(program, pins, owners, *s.across, {s.run.engine, s.on_failure});
}

// Runs the program and calls take(message) for each message to the host, by time and vertex.
template <graph::vertex_program Program, class Take>
void run_program(const Program& program,
                 std::span<const graph::edge_set<typename Program::edge>> pins, const settings& s,
                 outcome& o, Take take) {
  auto result = run_where_asked(program, pins, s);
  for (const auto& m : result.host) take(m);
  o.cut_seconds += result.cut_seconds;
  o.run_seconds += result.run_seconds;
  o.edges = pins[0].edges->edges();
  if (o.of_participants.empty()) {
    o.statistics = result.statistics;
    o.of_participants = std::move(result.of_participants);
    return;
  }
  // This is another part of the same work: its time follows that of the part before.
  const std::uint64_t time = o.statistics.time, detections = o.statistics.detections;
  o.statistics += result.statistics;
  o.statistics.time = time + result.statistics.time;
  o.statistics.detections = detections + result.statistics.detections;
  for (std::size_t i = 0; i < o.of_participants.size(); ++i)
    o.of_participants[i] += result.of_participants[i];
}

// The smallest symmetric graph that has all edges of this one, for programs whose vertices wait for
// their neighbours. Added edges have weight 0. If the graph has no weights, or they are not kept,
// the other edges have weight 1.
graph::csr neighbours_of(const graph::csr& graph, bool keep_weights, unsigned threads);

// Throws std::invalid_argument if there are no sources, or if the graph does not have one of them.
void require_sources(const graph::csr& graph, const std::vector<graph::vertex_t>& sources);

// Throws std::invalid_argument for a negative weight; the error names the edge.
void require_no_negative_weight(const graph::csr& graph, const std::string& application);

outcome run_pagerank(const graph::csr& graph, const settings& s);
outcome run_shortest_paths(const graph::csr& graph, const settings& s);
outcome run_multi_source(const graph::csr& graph, const settings& s);
outcome run_spiking(const graph::csr& graph, const settings& s);
outcome run_heat(const graph::csr& graph, const settings& s);

}  // namespace tutti::graph_apps
