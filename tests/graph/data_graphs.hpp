// SPDX-License-Identifier: Apache-2.0
// Common parts of the tests of graphs as data: small graphs of every kind, and the text of an
// error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/scratch.hpp"
#include "tutti/graph/csr.hpp"
#include "tutti/graph/generate.hpp"

namespace tutti::graph::test {

struct pair {
  vertex_t from;
  vertex_t to;
  float weight = 0;
};

inline csr graph_of(vertex_t vertices, const std::vector<pair>& edges, bool weighted = false) {
  edge_list list;
  list.vertices = vertices;
  for (const pair& each : edges)
    weighted ? list.add(each.from, each.to, each.weight) : list.add(each.from, each.to);
  return from_edges(std::move(list));
}

struct named_graph {
  std::string name;
  csr graph;
};

// Graphs that are directed, symmetric, disconnected, with self-loops, with duplicates, with
// isolated vertices at the end, or empty.
inline std::vector<named_graph> odd_graphs() {
  return {{"nothing", csr()},
          {"one vertex", graph_of(1, {})},
          {"one loop", graph_of(1, {{0, 0}})},
          {"isolated", graph_of(5, {{1, 2}})},
          {"directed", graph_of(4, {{2, 0}, {0, 3}, {0, 1}, {3, 0}})},
          {"loops", graph_of(3, {{0, 0}, {0, 1}, {2, 2}, {2, 2}})},
          {"duplicates", graph_of(3, {{0, 2}, {0, 1}, {0, 2}, {1, 0}})},
          {"disconnected", graph_of(6, {{0, 1}, {1, 0}, {3, 4}, {4, 3}})},
          {"weighted", graph_of(3, {{0, 1, 2}, {1, 2, 7}, {0, 1, 5}, {2, 2, 3}}, true)},
          {"ring", generate("ring:vertices=7")},
          {"kron", generate("kron:scale=8,degree=4,weights=integer")},
          {"geometric", generate("geometric:vertices=300,degree=6,weights=integer")}};
}

using tutti::test::scratch;

// The text of the exception that f throws. The test fails if f does not throw an E.
template <class E, class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

}  // namespace tutti::graph::test
