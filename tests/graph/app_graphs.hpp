// SPDX-License-Identifier: Apache-2.0
// Small graphs of every kind that the applications may get, and simple oracles in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "graph_apps/settings.hpp"
#include "tutti/graph/csr.hpp"

namespace tutti::test {

struct named_graph {
  std::string name;
  graph::csr graph;
};

inline graph::csr random_edges(std::mt19937& random, graph::vertex_t n, std::size_t edges,
                               bool weighted, bool both_ways = false) {
  graph::edge_list list;
  for (std::size_t i = 0; n != 0 && i < edges; ++i) {
    const auto from = static_cast<graph::vertex_t>(random() % n),
               to = static_cast<graph::vertex_t>(random() % n);
    const auto weight = static_cast<float>(random() % 1000) / 64;
    for (int k = 0; k < (both_ways ? 2 : 1); ++k)
      if (weighted)
        list.add(k == 0 ? from : to, k == 0 ? to : from, weight);
      else
        list.add(k == 0 ? from : to, k == 0 ? to : from);
  }
  list.vertices = n;
  return graph::from_edges(std::move(list));
}

inline graph::csr in_two_parts(std::mt19937& random, graph::vertex_t n) {
  graph::edge_list list;
  for (std::size_t i = 0; i < 4 * std::size_t{n}; ++i) {
    const auto half = static_cast<graph::vertex_t>(random() % 2) * (n / 2);
    list.add(half + static_cast<graph::vertex_t>(random() % (n / 2 - 1)),
             half + static_cast<graph::vertex_t>(random() % (n / 2 - 1)),
             static_cast<float>(random() % 100));
  }
  list.vertices = n;
  return graph::from_edges(std::move(list));
}

inline std::vector<named_graph> app_graphs() {
  std::mt19937 random(5);
  std::vector<named_graph> all;
  all.push_back({"one_vertex", random_edges(random, 1, 0, false)});
  all.push_back({"one_loop", random_edges(random, 1, 3, true)});
  all.push_back({"no_edges", random_edges(random, 10, 0, false)});
  all.push_back({"directed", random_edges(random, 60, 300, true)});
  all.push_back({"unweighted", random_edges(random, 60, 300, false)});
  all.push_back({"symmetric", random_edges(random, 60, 150, true, true)});
  all.push_back({"sparse", random_edges(random, 80, 60, true)});
  all.push_back({"dense_loops_and_repeats", random_edges(random, 6, 90, true)});
  all.push_back({"two_parts", in_two_parts(random, 40)});
  graph::edge_list path, star;
  for (graph::vertex_t v = 0; v + 1 < 50; ++v) path.add(v, v + 1);
  for (graph::vertex_t v = 1; v < 50; ++v) star.add(0, v, 2.5f), star.add(v, 0, 0.0f);
  all.push_back({"path", graph::from_edges(std::move(path))});
  all.push_back({"star", graph::from_edges(std::move(star))});
  return all;
}

inline double weight_of(const graph::csr& g, graph::edge_t e) {
  return g.weighted() ? double{g.weights[e]} : 1.0;
}

template <class F>
void for_each_edge(const graph::csr& g, F f) {
  for (graph::vertex_t v = 0; v < g.vertices; ++v)
    for (graph::edge_t e = g.offsets[v]; e < g.offsets[v + std::size_t{1}]; ++e)
      f(v, g.targets[e], e);
}

// Spreads the rank of vertices without out-edges evenly, as in the usual definition, and iterates
// to convergence.
inline std::vector<double> power_iteration(const graph::csr& g, double damping) {
  const double n = g.vertices;
  std::vector<double> x(g.vertices, 1 / n);
  for (int i = 0; i < 2000; ++i) {
    double lost = 0;
    for (graph::vertex_t v = 0; v < g.vertices; ++v)
      if (g.degree(v) == 0) lost += x[v];
    std::vector<double> y(g.vertices, (1 - damping) / n + damping * lost / n);
    for_each_edge(g, [&](auto u, auto v, auto) {
      y[v] += damping * x[u] / static_cast<double>(g.degree(u));
    });
    x = y;
  }
  return x;
}

// Bellman and Ford's algorithm, until nothing changes.
inline std::vector<double> all_relaxed(const graph::csr& g, graph::vertex_t source) {
  std::vector<float> d(g.vertices, std::numeric_limits<float>::infinity());
  d[source] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for_each_edge(g, [&](auto u, auto v, auto e) {
      const float found = d[u] + static_cast<float>(weight_of(g, e));
      if (found < d[v]) d[v] = found, changed = true;
    });
  }
  return {d.begin(), d.end()};
}

inline std::vector<std::int64_t> breadth_first(const graph::csr& g, graph::vertex_t source) {
  std::vector<std::int64_t> d(g.vertices, -1);
  std::queue<graph::vertex_t> open;
  d[source] = 0;
  open.push(source);
  for (; !open.empty(); open.pop())
    for (const graph::vertex_t to : g.out(open.front()))
      if (d[to] < 0) {
        d[to] = d[open.front()] + 1;
        open.push(to);
      }
  return d;
}

inline std::vector<double> euler_heat(const graph::csr& g, std::vector<double> t, double step,
                                      std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; ++i) {
    std::vector<double> next = t;
    for_each_edge(
        g, [&](auto u, auto v, auto e) { next[v] += step * weight_of(g, e) * (t[u] - t[v]); });
    t = next;
  }
  return t;
}

template <class T>
const std::vector<T>& column_of(const graph_apps::outcome& o, const std::string& name) {
  for (const auto& c : o.columns)
    if (c.name == name) return std::get<std::vector<T>>(c.values);
  throw std::out_of_range("no column " + name);
}

inline graph_apps::outcome run_app(const std::string& name, const graph::csr& g,
                                   const graph_apps::settings& s) {
  for (const auto& app : graph_apps::applications())
    if (app.name == name) return app.run(g, s);
  throw std::out_of_range("no application " + name);
}

}  // namespace tutti::test
