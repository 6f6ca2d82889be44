// SPDX-License-Identifier: Apache-2.0
// Runs a vertex program sequentially.
//
//   auto result = tutti::graph::run_alone(shortest_paths{.source = 0}, graph);
//   for (const auto& [vertex, time, distance] : result.host) ...
//
// This needs the compiled libraries tutti and tutti::graph_data.
#pragma once

#include <span>
#include <vector>

#include "tutti/graph/run_result.hpp"
#include "tutti/graph/solo_endpoint.hpp"
#include "tutti/graph/vertex_engine.hpp"

namespace tutti::graph {

// Throws std::invalid_argument if the graphs do not fit together, or are not symmetric although the
// program needs it, and whatever a handler throws.
template <vertex_program Program>
run_result<Program> run_alone(const Program& program,
                              std::span<const edge_set<typename Program::edge>> pins,
                              const engine_options& options = {}) {
  detail::require_graph_for<Program>(pins);
  // There is nobody to whom combined messages would go.
  detail::combines_messages<Program>(options);
  require(!pins.empty() && pins[0].edges != nullptr, "a vertex program needs a graph");
  const auto begin = detail::clock::now();
  const std::vector<rank_t> owners(pins[0].edges->vertices, 0);
  const shards<typename Program::edge> cut(pins, owners, 1, {}, 1,
                                           detail::gathers_by_vertex<Program>);
  solo_endpoint alone;
  collecting_host<typename Program::message> host;
  vertex_engine engine(program, cut[0], cut.vertices(), alone, host, options);
  run_result<Program> result;
  result.cut_seconds = detail::seconds_since(begin);
  const auto start = detail::clock::now();
  engine.run();
  result.host = host.take();
  result.run_seconds = detail::seconds_since(start);
  result.statistics = engine.statistics();
  result.of_participants = {result.statistics};
  return result;
}

template <vertex_program Program>
run_result<Program> run_alone(const Program& program, const csr& graph,
                              const engine_options& options = {}) {
  const edge_set<typename Program::edge> all{&graph, {}};
  return run_alone(program, std::span(&all, 1), options);
}

}  // namespace tutti::graph
