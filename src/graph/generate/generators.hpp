// SPDX-License-Identifier: Apache-2.0
// One function per generator. It takes a specification whose known keys have been checked, and the
// number of threads that may help.
#pragma once

#include <functional>

#include "src/graph/generate/specification.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

struct made {
  csr graph;
  // Whether the generator makes a symmetric graph.
  bool symmetric = true;
};

made make_geometric(const specification& how, unsigned threads);
made make_kronecker(const specification& how, unsigned threads);
made make_uniform(const specification& how, unsigned threads);
made make_grid(const specification& how, unsigned threads);
made make_ring(const specification& how, unsigned threads);
made make_chain(const specification& how, unsigned threads);
made make_star(const specification& how, unsigned threads);
made make_complete(const specification& how, unsigned threads);
made make_tree(const specification& how, unsigned threads);
made make_detours(const specification& how, unsigned threads);
made make_empty(const specification& how, unsigned threads);

// Makes a graph of the edges edge(k) -> one_way for k = 0 .. edges-1, in this order, or each
// followed by its reverse; a self-loop has no reverse. `simple` drops self-loops and repeated edges
// and sorts the rows.
struct pair_options {
  vertex_t vertices = 0;
  edge_t edges = 0;
  bool symmetric = true;
  bool simple = false;
};
using edge_rule = std::function<one_way(edge_t)>;
csr from_rule(const pair_options& how, unsigned threads, const edge_rule& edge);

}  // namespace tutti::graph
