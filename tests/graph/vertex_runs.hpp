// SPDX-License-Identifier: Apache-2.0
// The ways in which tests run a vertex program: sequentially, on threads, on virtual ranks; with
// vertices distributed at random.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tutti/graph/run.hpp"

namespace tutti::test {

struct way {
  // 0: run_alone().
  rank_t threads = 0;
  rank_t ranks = 0;
  graph::send_order order = graph::send_order::first_in_first_out;
  std::string detector = {};
};

inline std::string name_of_way(const testing::TestParamInfo<way>& info) {
  const way& w = info.param;
  if (w.threads == 0)
    return w.order == graph::send_order::first_in_first_out ? "alone" : "alone_newest_first";
  std::string name = "threads" + std::to_string(w.threads);
  if (w.ranks != 0) name += "_ranks" + std::to_string(w.ranks);
  if (w.order != graph::send_order::first_in_first_out) name += "_newest_first";
  if (!w.detector.empty()) name += "_" + w.detector;
  return name;
}

inline std::vector<way> ways() {
  constexpr auto newest = graph::send_order::last_in_first_out;
  return {{},     {0, 0, newest}, {1, 0}, {2, 0}, {2, 0, newest}, {3, 0},
          {4, 0}, {8, 0},         {1, 3}, {2, 5}, {2, 17}};
}

// Random owners, the same for the same number of participants; some participants may have no
// vertex.
inline std::vector<rank_t> dealt_owners(graph::vertex_t vertices, rank_t participants) {
  std::mt19937 random(participants);
  std::vector<rank_t> owners(vertices);
  for (rank_t& owner : owners) owner = static_cast<rank_t>(random() % participants);
  return owners;
}

template <graph::vertex_program Program>
graph::run_result<Program> run_in(const way& w, const Program& program,
                                  std::span<const graph::edge_set<typename Program::edge>> pins,
                                  graph::engine_options engine = {}) {
  engine.order = w.order;
  if (w.threads == 0) return graph::run_alone(program, pins, engine);
  graph::run_options options;
  options.threads = w.threads;
  options.ranks = w.ranks;
  options.detector = w.detector;
  options.engine = engine;
  const auto owners = dealt_owners(pins[0].edges->vertices, w.ranks != 0 ? w.ranks : w.threads);
  return graph::run(program, pins, options, owners);
}

template <graph::vertex_program Program>
graph::run_result<Program> run_in(const way& w, const Program& program, const graph::csr& graph,
                                  const graph::engine_options& engine = {}) {
  const graph::edge_set<typename Program::edge> all{&graph, {}};
  return run_in(w, program, std::span(&all, 1), engine);
}

inline graph::csr graph_of(
    graph::vertex_t vertices,
    std::initializer_list<std::pair<graph::vertex_t, graph::vertex_t>> edges) {
  graph::edge_list list;
  for (const auto& [from, to] : edges) list.add(from, to);
  list.vertices = vertices;
  return graph::from_edges(std::move(list));
}

}  // namespace tutti::test
