// SPDX-License-Identifier: Apache-2.0
// Graphs whose edges are drawn one by one: uniform graphs, and Kronecker graphs as in Graph 500 and
// the GAP benchmark suite.
#include <utility>

#include "src/graph/generate/generators.hpp"
#include "src/graph/generate/random.hpp"
#include "src/graph/parallel.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

constexpr std::uint64_t edges_at_a_time = 1 << 16;

// Drops the second copy of each self-loop, because a self-loop is its own reverse.
void drop_second_loops(edge_list& list) {
  std::size_t kept = 0;
  for (std::size_t e = 0; e < list.size(); ++e) {
    if (e % 2 == 1 && list.sources[e] == list.targets[e]) continue;
    list.sources[kept] = list.sources[e];
    list.targets[kept++] = list.targets[e];
  }
  list.sources.resize(kept);
  list.targets.resize(kept);
}

edge_t edges_of(const specification& how, vertex_t vertices) {
  const double edges = how.real("degree", 0, 0x1p31) * vertices;
  if (edges > 0x1p40) refuse("'" + std::string(how.text()) + "' has more than 2^40 edges");
  return static_cast<edge_t>(edges + 0.5);
}

// Renames the vertices so that a vertex's number says nothing about its degree. It is a bijection
// of [0, 2^bits): four rounds of an odd factor and a shift, each of which can be inverted.
class scrambling {
 public:
  scrambling(unsigned bits, std::uint64_t seed)
      : mask_((std::uint64_t{1} << bits) - 1), shift_(bits / 2 + 1) {
    for (std::uint32_t round = 0; round < 4; ++round) {
      const random_words words = random_block(seed, purpose::scramble, round);
      factors_[round] = two_words(words[0], words[1]) | 1;
      masks_[round] = two_words(words[2], words[3]);
    }
  }
  vertex_t operator()(std::uint64_t x) const noexcept {
    for (int round = 0; round < 4; ++round) {
      x = ((x ^ masks_[round]) * factors_[round]) & mask_;
      x ^= x >> shift_;
    }
    return static_cast<vertex_t>(x);
  }

 private:
  std::uint64_t mask_;
  unsigned shift_;
  std::uint64_t factors_[4];
  std::uint64_t masks_[4];
};

// The recipe of a graph of the edges edge(k), for k = 0 .. edges-1, in this order, or of each
// followed by its reverse; a self-loop has no reverse.
template <class Edge>
recipe by_rule(const specification& how, vertex_t vertices, edge_t edges, const Edge& edge) {
  const bool symmetric = how.flag("symmetric"), simple = how.flag("simple");
  const auto whole = [=](unsigned threads) {
    const std::size_t each = symmetric ? 2 : 1;
    edge_list list;
    list.vertices = vertices;
    list.sources.resize(edges * each);
    list.targets.resize(edges * each);
    in_parts(threads, edges, edges_at_a_time, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t k = first; k < last; ++k) {
        const one_way pair = edge(k);
        list.sources[k * each] = pair.from;
        list.targets[k * each] = pair.to;
        if (!symmetric) continue;
        list.sources[k * 2 + 1] = pair.to;
        list.targets[k * 2 + 1] = pair.from;
      }
    });
    if (symmetric) drop_second_loops(list);
    csr graph = from_edges(std::move(list), threads);
    return simple ? without_duplicates(without_self_loops(graph), threads) : graph;
  };
  const auto list = [=](edge_sink& to) {
    for (edge_t k = 0; k < edges; ++k) {
      const one_way pair = edge(k);
      to.add(pair.from, pair.to);
      if (symmetric && pair.from != pair.to) to.add(pair.to, pair.from);
    }
  };
  return {vertices, false, symmetric, simple ? row_order::simple : row_order::as_listed,
          whole,    list};
}

}  // namespace

recipe make_uniform(const specification& how, unsigned) {
  const vertex_t vertices = how.vertices();
  const edge_t edges = vertices == 0 ? 0 : edges_of(how, vertices);
  const std::uint64_t seed = how.seed();
  return by_rule(how, vertices, edges, [=](edge_t k) {
    const random_words words = random_block(seed, purpose::uniform, k);
    return one_way{static_cast<vertex_t>(below(vertices, two_words(words[0], words[1]))),
                   static_cast<vertex_t>(below(vertices, two_words(words[2], words[3])))};
  });
}

recipe make_kronecker(const specification& how, unsigned) {
  const auto scale = static_cast<unsigned>(how.whole("scale", 0, 31));
  const double a = how.real("a", 0, 1), b = how.real("b", 0, 1), c = how.real("c", 0, 1);
  if (a + b + c > 1) refuse("generator 'kron': a + b + c must be at most 1");
  const auto vertices = static_cast<vertex_t>(std::uint64_t{1} << scale);
  const bool scrambled = how.flag("scramble");
  const std::uint64_t seed = how.seed();
  const scrambling name(scale, seed);
  // The probabilities in units of 2^-32: top left, top right, bottom left; the remainder is bottom
  // right.
  const auto in_words = [](double share) { return static_cast<std::uint64_t>(share * 0x1p32); };
  const std::uint64_t left_top = in_words(a), top = in_words(a + b), not_last = in_words(a + b + c);
  const auto draw = [=](edge_t k) {
    std::uint64_t from = 0, to = 0;
    random_words words{};
    for (unsigned level = 0; level < scale; ++level) {
      if (level % 4 == 0) words = random_block(seed, purpose::kronecker, k, level / 4);
      const std::uint64_t word = words[level % 4];
      const bool bottom = word >= top;
      const bool right = word >= not_last || (word >= left_top && word < top);
      from = from << 1 | (bottom ? 1 : 0);
      to = to << 1 | (right ? 1 : 0);
    }
    if (!scrambled) return one_way{static_cast<vertex_t>(from), static_cast<vertex_t>(to)};
    return one_way{name(from), name(to)};
  };
  return by_rule(how, vertices, edges_of(how, vertices), draw);
}

}  // namespace tutti::graph
