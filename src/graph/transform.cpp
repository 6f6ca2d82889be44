// SPDX-License-Identifier: Apache-2.0
// Graphs made from graphs: rows sorted, edges reversed, added and dropped, vertices renamed.
#include <algorithm>
#include <tuple>
#include <utility>

#include "src/graph/parallel.hpp"
#include "src/graph/rows.hpp"
#include "tutti/graph/csr.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

void sort_rows(csr& graph, unsigned threads) {
  constexpr std::uint64_t rows_at_a_time = 4096;
  in_parts(threads, graph.vertices, rows_at_a_time, [&](std::uint64_t first, std::uint64_t last) {
    std::vector<std::pair<vertex_t, float>> row;
    for (auto v = static_cast<vertex_t>(first); v < last; ++v) {
      const auto begin = graph.targets.begin() + static_cast<std::ptrdiff_t>(graph.offsets[v]);
      const auto degree = static_cast<std::ptrdiff_t>(graph.degree(v));
      if (!graph.weighted()) {
        std::sort(begin, begin + degree);
        continue;
      }
      const auto weight = graph.weights.begin() + static_cast<std::ptrdiff_t>(graph.offsets[v]);
      row.clear();
      for (std::ptrdiff_t i = 0; i < degree; ++i) row.emplace_back(begin[i], weight[i]);
      std::sort(row.begin(), row.end());
      for (std::ptrdiff_t i = 0; i < degree; ++i)
        std::tie(begin[i], weight[i]) = row[static_cast<std::size_t>(i)];
    }
  });
}

csr transpose(const csr& graph, unsigned threads) {
  csr reversed;
  reversed.vertices = graph.vertices;
  reversed.offsets.assign(graph.offsets.size(), 0);
  reversed.targets.resize(graph.targets.size());
  reversed.weights.resize(graph.weights.size());
  if (graph.vertices == 0) return reversed;
  // A thread fills its own rows and reads all edges for them, as in build.cpp.
  const auto each_target = [&](const auto& body) {
    in_shares(threads, graph.vertices, [&](std::uint64_t first, std::uint64_t last) {
      const auto low = static_cast<vertex_t>(first);
      const auto width = static_cast<vertex_t>(last - first);
      for (vertex_t u = 0; u < graph.vertices; ++u)
        for (edge_t e = graph.offsets[u]; e < graph.offsets[u + std::size_t{1}]; ++e)
          if (graph.targets[e] - low < width) body(u, graph.targets[e], e);
    });
  };
  edge_t* const cursor = reversed.offsets.data() + 1;
  each_target([&](vertex_t, vertex_t target, edge_t) { ++cursor[target]; });
  edge_t sum = 0;
  for (std::size_t v = 1; v <= graph.vertices; ++v) sum += std::exchange(reversed.offsets[v], sum);
  each_target([&](vertex_t source, vertex_t target, edge_t e) {
    const edge_t place = cursor[target]++;
    reversed.targets[place] = source;
    if (graph.weighted()) reversed.weights[place] = graph.weights[e];
  });
  return reversed;
}

csr sorted(const csr& graph, unsigned threads) {
  csr result = graph;
  sort_rows(result, threads);
  return result;
}

std::optional<one_way> find_one_way(const csr& graph) {
  const csr in = transpose(graph);
  // The rows of `graph`, sorted.
  const csr out = transpose(in);
  for (vertex_t u = 0; u < graph.vertices; ++u) {
    const auto a = out.out(u), b = in.out(u);
    const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (x == a.end() && y == b.end()) continue;
    if (y == b.end() || (x != a.end() && *x < *y)) return one_way{u, *x};
    return one_way{*y, u};
  }
  return {};
}

bool is_symmetric(const csr& graph) { return !find_one_way(graph).has_value(); }

bool is_symmetric_with_weights(const csr& graph) {
  if (!graph.weighted()) return is_symmetric(graph);
  csr reversed = transpose(graph);
  if (reversed.offsets != graph.offsets) return false;
  sort_rows(reversed, 1);
  return reversed == sorted(graph);
}

csr symmetrized(const csr& graph, std::optional<float> added_weight, unsigned threads) {
  const csr out = sorted(graph, threads);
  csr in = transpose(graph, threads);
  sort_rows(in, threads);
  // Row u of the result has the edges of row u and the missing reverses of u's in-edges.
  csr result = rows_by(graph.vertices, graph.weighted(), threads, [&](vertex_t u, auto&& emit) {
    const auto mine = out.out(u), theirs = in.out(u);
    const auto my_weights = out.weights_of(u), their_weights = in.weights_of(u);
    const auto weight_at = [](std::span<const float> weights, std::size_t i) {
      return weights.empty() ? 0.0f : weights[i];
    };
    std::size_t i = 0, j = 0;
    while (i < mine.size() || j < theirs.size()) {
      const vertex_t v =
          j == theirs.size() || (i < mine.size() && mine[i] <= theirs[j]) ? mine[i] : theirs[j];
      std::size_t i_end = i, j_end = j;
      while (i_end < mine.size() && mine[i_end] == v) ++i_end;
      while (j_end < theirs.size() && theirs[j_end] == v) ++j_end;
      const std::size_t already = i_end - i;
      for (; i < i_end; ++i) emit(v, weight_at(my_weights, i));
      for (j = std::min(j + already, j_end); j < j_end; ++j)
        emit(v, added_weight.value_or(weight_at(their_weights, j)));
    }
  });
  if (result.weighted()) sort_rows(result, threads);
  return result;
}

csr without_self_loops(const csr& graph) {
  return rows_by(graph.vertices, graph.weighted(), 1, [&](vertex_t u, auto&& emit) {
    const auto weights = graph.weights_of(u);
    for (std::size_t i = 0; const vertex_t v : graph.out(u)) {
      if (v != u) emit(v, weights.empty() ? 0.0f : weights[i]);
      ++i;
    }
  });
}

csr without_duplicates(const csr& graph, unsigned threads) {
  const csr ordered = sorted(graph, threads);
  return rows_by(ordered.vertices, ordered.weighted(), threads, [&](vertex_t u, auto&& emit) {
    const auto row = ordered.out(u);
    const auto weights = ordered.weights_of(u);
    for (std::size_t i = 0; i < row.size(); ++i)
      if (i == 0 || row[i] != row[i - 1]) emit(row[i], weights.empty() ? 0.0f : weights[i]);
  });
}

csr relabelled(const csr& graph, std::span<const vertex_t> new_name) {
  if (new_name.size() != graph.vertices)
    refuse("a graph of " + std::to_string(graph.vertices) + " vertices cannot get " +
           std::to_string(new_name.size()) + " new names");
  std::vector<vertex_t> old_name(graph.vertices, no_vertex);
  for (vertex_t v = 0; v < graph.vertices; ++v) {
    if (new_name[v] >= graph.vertices)
      refuse("the new name of vertex " + std::to_string(v) + ", " + std::to_string(new_name[v]) +
             ", is not one of " + std::to_string(graph.vertices) + " vertices");
    if (old_name[new_name[v]] != no_vertex)
      refuse("vertices " + std::to_string(old_name[new_name[v]]) + " and " + std::to_string(v) +
             " have the same new name, " + std::to_string(new_name[v]));
    old_name[new_name[v]] = v;
  }
  csr result;
  result.vertices = graph.vertices;
  result.offsets.reserve(graph.offsets.size());
  result.targets.reserve(graph.targets.size());
  result.weights.reserve(graph.weights.size());
  for (const vertex_t v : old_name) {
    for (const vertex_t target : graph.out(v)) result.targets.push_back(new_name[target]);
    const auto weights = graph.weights_of(v);
    result.weights.insert(result.weights.end(), weights.begin(), weights.end());
    result.offsets.push_back(result.targets.size());
  }
  return result;
}

}  // namespace tutti::graph
