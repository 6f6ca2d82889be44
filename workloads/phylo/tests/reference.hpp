// SPDX-License-Identifier: Apache-2.0
// Computes the likelihood in other, slow ways, with which the tests compare.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "workloads/phylo/alignment.hpp"
#include "workloads/phylo/model.hpp"
#include "workloads/phylo/tree.hpp"

namespace tutti::phylo::test {

using big = long double;
using big_matrix = std::array<std::array<big, 4>, 4>;

// exp(Q t) by its series, with squaring; it shares nothing with eigenvectors.
inline big_matrix transition(const substitution& s, big length) {
  big_matrix q{};
  std::size_t pair = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j, ++pair) {
      q[i][j] = big(s.exchange[pair]) * s.frequencies[j];
      q[j][i] = big(s.exchange[pair]) * s.frequencies[i];
    }
  }
  big changes = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) q[i][i] -= i == j ? 0 : q[i][j];
    changes -= s.frequencies[i] * q[i][i];
  }
  const auto times = [](const big_matrix& a, const big_matrix& b) {
    big_matrix c{};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j)
        for (std::size_t k = 0; k < 4; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
  };
  constexpr int squarings = 20;
  for (auto& row : q)
    for (big& x : row) x *= length / changes / (1 << squarings);
  big_matrix sum{}, term{};
  for (std::size_t i = 0; i < 4; ++i) sum[i][i] = term[i][i] = 1;
  for (int n = 1; n < 8; ++n) {
    term = times(term, q);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) sum[i][j] += term[i][j] /= n;
  }
  for (int n = 0; n < squarings; ++n) sum = times(sum, sum);
  return sum;
}

// One column, one rate: the sum over all states of all nodes, 4^nodes terms.
inline big brute_force(const tree& t, const std::vector<state_set>& column, const substitution& s,
                       double rate) {
  std::vector<big_matrix> p;
  for (const auto& e : t.edges) p.push_back(transition(s, big(e.length) * rate));
  std::vector<std::size_t> state(t.nodes());
  big total = 0;
  const std::function<void(std::size_t)> choose = [&](std::size_t node) {
    if (node == t.nodes()) {
      // Each edge is followed away from the first inner node. The model is reversible, so any root
      // gives the same result.
      big product = s.frequencies[state[t.tips()]];
      std::vector<std::pair<edge_t, node_t>> open;
      for (const edge_t e : t.incident[t.tips()])
        open.emplace_back(e, static_cast<node_t>(t.tips()));
      while (!open.empty()) {
        const auto [e, from] = open.back();
        open.pop_back();
        const node_t to = t.far_end(e, from);
        product *= p[e][state[from]][state[to]];
        if (t.is_tip(to)) continue;
        for (const edge_t next : t.other_edges(to, e)) open.emplace_back(next, to);
      }
      total += product;
      return;
    }
    for (state[node] = 0; state[node] < 4; ++state[node]) {
      if (node < t.tips() && (column[node] >> state[node] & 1) == 0) continue;
      choose(node + 1);
    }
  };
  choose(0);
  return total;
}

// One column, one rate, a tree of any size: Felsenstein's recursion with a separate exponent.
// Returns a natural logarithm.
inline big pruning(const tree& t, const std::vector<state_set>& column, const substitution& s,
                   double rate) {
  struct partial {
    std::array<big, 4> x;
    long exponent;
  };
  const std::function<partial(edge_t, node_t)> below = [&](edge_t e, node_t from) {
    const node_t to = t.far_end(e, from);
    partial at{{1, 1, 1, 1}, 0};
    if (t.is_tip(to)) {
      for (std::size_t i = 0; i < 4; ++i) at.x[i] = column[to] >> i & 1;
    } else {
      for (const edge_t next : t.other_edges(to, e)) {
        const partial child = below(next, to);
        for (std::size_t i = 0; i < 4; ++i) at.x[i] *= child.x[i];
        at.exponent += child.exponent;
      }
    }
    const big_matrix p = transition(s, big(t.edges[e].length) * rate);
    partial up{{}, at.exponent};
    big largest = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) up.x[i] += p[i][j] * at.x[j];
      largest = std::max(largest, up.x[i]);
    }
    int exponent = 0;
    std::frexp(largest, &exponent);
    for (big& x : up.x) x = std::ldexp(x, -exponent);
    up.exponent += exponent;
    return up;
  };
  const auto root = static_cast<node_t>(t.tips());
  std::array<big, 4> product{1, 1, 1, 1};
  long exponent = 0;
  for (const edge_t e : t.incident[root]) {
    const partial child = below(e, root);
    for (std::size_t i = 0; i < 4; ++i) product[i] *= child.x[i];
    exponent += child.exponent;
  }
  big sum = 0;
  for (std::size_t i = 0; i < 4; ++i) sum += product[i] * s.frequencies[i];
  return std::log(sum) + big(exponent) * std::log(big(2));
}

// The column of an alignment whose rows are in the order of the tree's tips.
inline std::vector<state_set> column_of(const alignment& a, std::size_t site) {
  std::vector<state_set> column;
  for (const auto& row : a.rows) column.push_back(row[site]);
  return column;
}

inline substitution uneven() { return {{1.2, 3.1, 0.7, 0.9, 4.2, 1.0}, {0.35, 0.15, 0.2, 0.3}}; }

}  // namespace tutti::phylo::test
