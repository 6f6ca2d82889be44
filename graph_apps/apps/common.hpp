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
#include "sim/boards_engine.hpp"
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

// Runs the plain loop of an application on one thread; the outcome gets its time and the graph's
// edges.
template <class Loop>
auto run_sequential(const graph::csr& g, outcome& o, Loop loop) {
  const stopwatch watch;
  auto found = loop(g);
  o.run_seconds = watch.seconds();
  o.edges = g.edges();
  return found;
}

// Whether this process gets the results.
inline bool gets_results(const settings& s) {
  return s.across == nullptr || s.across->first_rank() == 0;
}
// The vertices of this process in a run on shares, otherwise all.
struct vertex_range {
  graph::vertex_t first, count;
};
inline vertex_range vertices_here(const graph_input& graph) {
  if (graph.is_whole()) return {0, graph.vertices()};
  const graph::graph_share& part = graph.share();
  const graph::vertex_t first = part.blocks[part.first];
  return {first, part.blocks[part.first + part.parts.size()] - first};
}
// A value for each vertex whose result this process gets: its own vertices in a run on shares,
// otherwise all vertices in the first process and none elsewhere.
template <class T>
struct vertex_values {
  graph::vertex_t first = 0;
  std::vector<T> values;

  T& operator[](graph::vertex_t v) noexcept { return values[v - first]; }
};
// Call this before the run, which uses the share up.
template <class T>
vertex_values<T> values_here(const graph_input& graph, const settings& s) {
  const auto [first, count] = vertices_here(graph);
  return {first, std::vector<T>(!graph.is_whole() || gets_results(s) ? count : 0)};
}

// What each edge carries.
template <class Edge>
std::vector<Edge> edge_values(const graph::csr& graph, graph::edge_of_weight<Edge> of_weight) {
  std::vector<Edge> made;
  made.reserve(graph.edges());
  for (const float weight : graph.weights) made.push_back(of_weight(weight));
  return made;
}

template <graph::vertex_program Program>
graph::run_result<Program> run_where_asked(
    const Program& program, const graph_input& graph, const settings& s, bool is_last,
    graph::edge_of_weight<typename Program::edge> of_weight) {
  graph::across_options across{s.run.engine, s.on_failure};
  if (!graph.is_whole()) {
    across.engine.own_results = true;
    graph::graph_share part =
        is_last ? std::move(graph.share()) : graph::graph_share(graph.share());
    return graph::run_across(program, std::move(part), *s.across, across, of_weight);
  }
  const auto values = of_weight == nullptr ? std::vector<typename Program::edge>()
                                           : edge_values(graph.whole(), of_weight);
  const graph::edge_set<typename Program::edge> all{&graph.whole(), values};
  if (s.boards != nullptr) return sim::run_on_boards(program, std::span(&all, 1), *s.boards);
  if (s.across == nullptr) return graph::run(program, std::span(&all, 1), s.run);
  const auto owners = graph::partition(graph.whole(), s.across->size(), s.run.partition);
  return graph::run_across(program, std::span(&all, 1), owners, *s.across, across);
}

// Runs the program and calls take(message) for each message to the host, by time and vertex. A
// share is used up by the last run on it. The edges of a graph with weights may carry what
// of_weight() makes of them.
template <graph::vertex_program Program, class Take>
void run_program(const Program& program, const graph_input& graph, const settings& s, outcome& o,
                 Take take, bool is_last = true,
                 graph::edge_of_weight<typename Program::edge> of_weight = nullptr) {
  auto result = run_where_asked(program, graph, s, is_last, of_weight);
  for (const auto& m : result.host) take(m);
  result.host = {};
  o.cut_seconds += result.cut_seconds;
  o.run_seconds += result.run_seconds;
  o.edges = graph.is_whole() ? graph.whole().edges() : result.edges;
  o.graph_edges = o.edges;
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

// Throws std::invalid_argument if there are no sources, or if the graph does not have one of them.
void require_sources(const graph_input& graph, const std::vector<graph::vertex_t>& sources);

// Throws std::invalid_argument for a negative weight; the error names the edge. A share was made
// without negative weights.
void require_no_negative_weight(const graph_input& graph, const std::string& application);

outcome run_pagerank(const graph_input& graph, const settings& s);
outcome run_shortest_paths(const graph_input& graph, const settings& s);
outcome run_breadth_first(const graph_input& graph, const settings& s);
outcome run_components(const graph_input& graph, const settings& s);
outcome run_multi_source(const graph_input& graph, const settings& s);
outcome run_spiking(const graph_input& graph, const settings& s);
outcome run_heat(const graph_input& graph, const settings& s);

}  // namespace tutti::graph_apps
