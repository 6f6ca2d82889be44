// SPDX-License-Identifier: Apache-2.0
// The list of generators, and their common part: weights.
#include "tutti/graph/generate.hpp"

#include <array>
#include <cmath>
#include <new>
#include <stdexcept>

#include "src/graph/generate/generators.hpp"
#include "src/graph/generate/random.hpp"
#include "src/graph/generate/stream.hpp"
#include "src/graph/parallel.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

using key = generator_key;
using maker = recipe (*)(const specification&, unsigned);

constexpr key vertices_key = {"vertices", "", "number of vertices"};
constexpr key directed_key = {"directed", "0", "1: only edges from each vertex to the next"};
constexpr key symmetric_key = {"symmetric", "1", "1: each edge in both directions"};
constexpr key simple_key = {"simple", "0", "1: without self-loops and duplicates, rows sorted"};

constexpr std::array geometric_keys = {
    vertices_key,
    key{"degree", "16", "mean out-degree; smaller at the border"},
    key{"radius", "by degree",
        "largest distance of neighbours, in a square of side 1; replaces degree"},
    key{"locality", "1", "share of edges that stay; the others lead to any vertex"},
    key{"order", "cells", "cells: near vertices have near numbers; random: numbers are random"},
    key{"wrap", "0", "1: on a torus, which has no border"}};
constexpr std::array kronecker_keys = {
    key{"scale", "", "2^scale vertices, at most 31"},
    key{"degree", "16", "edges drawn per vertex; symmetric=1 stores each in both directions"},
    key{"a", "0.57", "probability of the top left quarter of the matrix"},
    key{"b", "0.19", "probability of the top right quarter"},
    key{"c", "0.19", "probability of the bottom left quarter"},
    key{"scramble", "1", "1: a vertex's number says nothing about its degree"},
    symmetric_key,
    simple_key};
constexpr std::array uniform_keys = {
    vertices_key,
    key{"degree", "16", "edges drawn per vertex; symmetric=1 stores each in both directions"},
    symmetric_key, simple_key};
constexpr std::array grid_keys = {
    key{"width", "", "vertices along x, whose index varies fastest"},
    key{"height", "", "vertices along y"}, key{"depth", "1", "vertices along z"},
    key{"wrap", "0", "1: the last and the first vertex of a line are joined"}};
constexpr std::array line_keys = {vertices_key, directed_key};
constexpr std::array tree_keys = {key{"depth", "", "levels below the root"},
                                  key{"fanout", "", "children of each inner vertex"}};
constexpr std::array size_keys = {vertices_key};
constexpr std::array complete_keys = {key{"vertices", "", "number of vertices, at most 2^17"}};
constexpr std::array detours_keys = {key{"components", "", "number of components, at most 24"}};
constexpr std::array shared_keys = {
    key{"weights", "none", "none, one, integer, real; the same in both directions if symmetric"},
    key{"low", "1", "smallest weight"}, key{"high", "255", "largest weight"},
    key{"seed", "1", "another seed gives another graph and other weights"}};

constexpr std::array list = {
    generator{"geometric", "points in a square; near points are joined", geometric_keys},
    generator{"kron", "Kronecker graph of Graph 500 and GAP: few vertices have many edges",
              kronecker_keys},
    generator{"uniform", "edges between random pairs of vertices", uniform_keys},
    generator{"grid", "2D or 3D grid; vertices are joined along the axes", grid_keys},
    generator{"ring", "each vertex joined to the next, and the last to the first", line_keys},
    generator{"chain", "each vertex joined to the next", line_keys},
    generator{"star", "vertex 0 joined to all others", size_keys},
    generator{"tree", "complete tree with breadth-first numbers; parents and children are joined",
              tree_keys},
    generator{"complete", "each vertex joined to all others", complete_keys},
    generator{"detours", "chain of components, each a long edge beside two of weight 0",
              detours_keys},
    generator{"empty", "no edges", size_keys}};
constexpr std::array<maker, list.size()> makers = {
    make_geometric, make_kronecker, make_uniform,  make_grid,    make_ring, make_chain,
    make_star,      make_tree,      make_complete, make_detours, make_empty};

struct weight_range {
  weight_kind kind;
  double low;
  double high;
};

void check(const weight_range& range) {
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high)
    refuse("the limits of random weights must be two numbers, the lower one first");
  if (range.kind == weight_kind::integer &&
      (range.low != std::floor(range.low) || range.high != std::floor(range.high) ||
       std::abs(range.low) > 0x1p24 || std::abs(range.high) > 0x1p24))
    refuse("the limits of random integer weights must be whole numbers of at most 2^24");
  if (std::abs(range.low) > 0x1p100 || std::abs(range.high) > 0x1p100)
    refuse("the limits of random weights must be at most 2^100");
}

float weight_for(const weight_range& range, std::uint64_t bits) {
  if (range.kind == weight_kind::one) return 1;
  if (range.kind == weight_kind::integer) {
    const auto count = static_cast<std::uint64_t>(range.high - range.low) + 1;
    return static_cast<float>(range.low + static_cast<double>(below(count, bits)));
  }
  const double share = static_cast<double>(bits >> 11) * 0x1p-53;
  return static_cast<float>(range.low + (range.high - range.low) * share);
}

float weight_of_edge(vertex_t u, vertex_t v, const weight_range& range, std::uint64_t seed,
                     bool both_ways) {
  const bool turn = both_ways && v < u;
  const random_words words =
      random_block(seed, purpose::weight, turn ? two_words(v, u) : two_words(u, v));
  return weight_for(range, two_words(words[0], words[1]));
}

void weigh(csr& graph, const weight_range& range, std::uint64_t seed, bool both_ways,
           unsigned threads) {
  check(range);
  graph.weights.resize(graph.edges());
  in_parts(threads, graph.vertices, 1024, [&](std::uint64_t first, std::uint64_t last) {
    for (auto u = static_cast<vertex_t>(first); u < last; ++u)
      for (edge_t e = graph.offsets[u]; e < graph.offsets[u + std::size_t{1}]; ++e)
        graph.weights[e] = weight_of_edge(u, graph.targets[e], range, seed, both_ways);
  });
}

void append_line(std::string& text, std::string_view indent, std::string_view name,
                 std::string_view meaning) {
  constexpr std::size_t column = 24;
  std::string line = std::string(indent) + std::string(name);
  line.resize(std::max(column, line.size() + 1), ' ');
  text += line + std::string(meaning) + "\n";
}

void append_keys(std::string& text, std::span<const generator_key> keys) {
  for (const generator_key& each : keys) {
    const std::string value = each.normally.empty() ? "N" : std::string(each.normally);
    append_line(text, "    ", std::string(each.name) + "=" + value, each.meaning);
  }
}

}  // namespace

std::span<const generator> generators() { return list; }
std::span<const generator_key> common_keys() { return shared_keys; }

std::string generators_help() {
  std::string text;
  for (const generator& each : list) {
    append_line(text, "", each.name, each.meaning);
    append_keys(text, each.keys);
  }
  text += "keys of all generators\n";
  append_keys(text, shared_keys);
  return text;
}

namespace {

// A specification, read and checked.
struct parsed {
  recipe rule;
  // Whether the edges get random weights.
  bool weighs = false;
  weight_range range;
  std::uint64_t seed = 0;
};

parsed parse(std::string_view text, unsigned threads) {
  const specification how(text);
  const std::size_t kind = how.choice("weights", {"none", "one", "integer", "real"});
  if (kind < 2 && (how.is_given("low") || how.is_given("high")))
    refuse("'" + std::string(text) + "': low and high need weights=integer or weights=real");
  const weight_range range{kind == 0 ? weight_kind::one : static_cast<weight_kind>(kind - 1),
                           how.real("low", -0x1p100, 0x1p100), how.real("high", -0x1p100, 0x1p100)};
  check(range);
  const std::uint64_t seed = how.seed();
  return {makers[static_cast<std::size_t>(&how.which() - list.data())](how, threads), kind != 0,
          range, seed};
}

}  // namespace

csr generate(std::string_view text, unsigned threads) {
  return fitting_memory(text, [&] {
    const parsed how = parse(text, threads);
    csr graph = how.rule.whole(threads);
    if (how.weighs) weigh(graph, how.range, how.seed, how.rule.symmetric, threads);
    return graph;
  });
}

edge_stream stream_of_rule(std::string_view text, unsigned threads) {
  parsed how = parse(text, threads);
  edge_stream stream{how.rule.vertices, how.weighs || how.rule.weighted, how.rule.symmetric,
                     how.rule.rows, std::move(how.rule.list)};
  if (!how.weighs) return stream;
  stream.list = [unweighted = std::move(stream.list), range = how.range, seed = how.seed,
                 symmetric = how.rule.symmetric](edge_sink& to) {
    edge_sink weighing([&](std::span<const streamed_edge> edges) {
      for (const streamed_edge& e : edges)
        to.add(e.from, e.to, weight_of_edge(e.from, e.to, range, seed, symmetric));
    });
    unweighted(weighing);
    weighing.flush();
  };
  return stream;
}

void set_random_weights(csr& graph, weight_kind kind, double low, double high, std::uint64_t seed,
                        bool both_ways) {
  weigh(graph, {kind, low, high}, seed, both_ways, 1);
}

}  // namespace tutti::graph
