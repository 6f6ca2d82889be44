// SPDX-License-Identifier: Apache-2.0
// One function a generator: a specification, of which the known keys have been checked, and how many threads may help.
#pragma once

#include <functional>

#include "specification.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

struct made {
  csr graph;
  bool symmetric = true;  // as the generator means it
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
made make_empty(const specification& how, unsigned threads);

// Edges k = 0 .. edges-1 by edge(k) -> one_way, in this order or each followed by its reverse; a self-loop has none.
// `simple`: no self-loops, no edge twice, sorted rows.
struct pair_options {
  vertex_t vertices = 0;
  edge_t edges = 0;
  bool symmetric = true;
  bool simple = false;
};
using edge_rule = std::function<one_way(edge_t)>;
csr from_rule(const pair_options& how, unsigned threads, const edge_rule& edge);

}  // namespace tutti::graph
