// SPDX-License-Identifier: Apache-2.0
// One function per generator. It takes a specification whose known keys have been checked, and
// returns the rule of the graph, from which the whole graph is made at once, or its edges one after
// another.
#pragma once

#include <functional>

#include "src/graph/edge_sink.hpp"
#include "src/graph/generate/specification.hpp"
#include "src/graph/rows.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::graph {

// What becomes of the rows when all edges are there.
enum class row_order {
  // They stay in the order of the edges.
  as_listed,
  // They are sorted by target.
  sorted,
  // They are sorted, and have no self-loops and no repeated edges.
  simple,
};

struct recipe {
  vertex_t vertices = 0;
  // Whether the rule itself gives the edges weights.
  bool weighted = false;
  // Whether the graph is symmetric.
  bool symmetric = true;
  row_order rows = row_order::as_listed;
  // Makes the whole graph, with the help of so many threads.
  std::function<csr(unsigned threads)> whole;
  // Lists the edges. Rows have them in this order unless `rows` says otherwise.
  std::function<void(edge_sink& to)> list;
};

// `threads` may help to prepare the rule.
recipe make_geometric(const specification& how, unsigned threads);
recipe make_kronecker(const specification& how, unsigned threads);
recipe make_uniform(const specification& how, unsigned threads);
recipe make_grid(const specification& how, unsigned threads);
recipe make_ring(const specification& how, unsigned threads);
recipe make_chain(const specification& how, unsigned threads);
recipe make_star(const specification& how, unsigned threads);
recipe make_complete(const specification& how, unsigned threads);
recipe make_tree(const specification& how, unsigned threads);
recipe make_detours(const specification& how, unsigned threads);
recipe make_empty(const specification& how, unsigned threads);

// The recipe of a graph whose rows a function lists, see rows_by().
template <class Row>
recipe recipe_by_rows(vertex_t vertices, bool weighted, bool symmetric, const Row& row) {
  return {vertices,
          weighted,
          symmetric,
          row_order::as_listed,
          [=](unsigned threads) { return rows_by(vertices, weighted, threads, row); },
          [=](edge_sink& to) {
            for (vertex_t v = 0; v < vertices; ++v)
              row(v, [&](vertex_t target, float weight) { to.add(v, target, weight); });
          }};
}

}  // namespace tutti::graph
