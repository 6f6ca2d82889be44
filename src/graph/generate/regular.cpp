// SPDX-License-Identifier: Apache-2.0
// Graphs without randomness: grids, rings, chains, stars, trees, complete and empty graphs, and the
// worst case of asynchronous shortest paths. Rows are sorted, and no edge occurs twice.
#include <algorithm>
#include <array>

#include "src/graph/generate/generators.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

// A row made from at most six vertices, which a rule may name in any order, repeat, or include the
// vertex itself.
class few {
 public:
  void add(vertex_t v) noexcept {
    std::size_t place = count_;
    for (; place > 0 && all_[place - 1] >= v; --place)
      if (all_[place - 1] == v) return;
    for (std::size_t i = count_++; i > place; --i) all_[i] = all_[i - 1];
    all_[place] = v;
  }
  template <class Emit>
  void emit_for(vertex_t self, Emit& emit) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (all_[i] != self) emit(all_[i], 0.0f);
  }

 private:
  std::array<vertex_t, 6> all_{};
  std::size_t count_ = 0;
};

recipe line(const specification& how, bool closed) {
  const vertex_t vertices = how.vertices();
  const bool directed = how.flag("directed");
  return recipe_by_rows(vertices, false, !directed, [=](vertex_t v, auto&& emit) {
    few row;
    if (v + 1 < vertices || closed) row.add(v + 1 < vertices ? v + 1 : 0);
    if (!directed && (v > 0 || closed)) row.add(v > 0 ? v - 1 : vertices - 1);
    row.emit_for(v, emit);
  });
}

}  // namespace

recipe make_ring(const specification& how, unsigned) { return line(how, true); }
recipe make_chain(const specification& how, unsigned) { return line(how, false); }

recipe make_grid(const specification& how, unsigned) {
  const bool wrap = how.flag("wrap");
  const std::array<std::uint64_t, 3> size = {how.vertices("width"), how.vertices("height"),
                                             how.vertices("depth")};
  if (size[0] != 0 && size[1] != 0 && size[2] > most_vertices / size[0] / size[1])
    refuse("'" + std::string(how.text()) + "' has more than " + std::to_string(most_vertices) +
           " vertices");
  const auto vertices = static_cast<vertex_t>(size[0] * size[1] * size[2]);
  return recipe_by_rows(vertices, false, true, [=](vertex_t v, auto&& emit) {
    few row;
    std::uint64_t stride = 1;
    for (const std::uint64_t length : size) {
      const std::uint64_t at = v / stride % length;
      if (at > 0 || wrap)
        row.add(static_cast<vertex_t>(at > 0 ? v - stride : v + stride * (length - 1)));
      if (at + 1 < length || wrap)
        row.add(static_cast<vertex_t>(at + 1 < length ? v + stride : v - stride * at));
      stride *= length;
    }
    row.emit_for(v, emit);
  });
}

recipe make_star(const specification& how, unsigned) {
  const vertex_t vertices = how.vertices();
  return recipe_by_rows(vertices, false, true, [=](vertex_t v, auto&& emit) {
    if (v != 0) return emit(0, 0.0f);
    for (vertex_t leaf = 1; leaf < vertices; ++leaf) emit(leaf, 0.0f);
  });
}

recipe make_complete(const specification& how, unsigned) {
  const auto vertices = static_cast<vertex_t>(how.whole("vertices", 0, 1 << 17));
  return recipe_by_rows(vertices, false, true, [=](vertex_t v, auto&& emit) {
    for (vertex_t other = 0; other < vertices; ++other)
      if (other != v) emit(other, 0.0f);
  });
}

recipe make_tree(const specification& how, unsigned) {
  const std::uint64_t fanout = how.vertices("fanout");
  const std::uint64_t depth = how.whole("depth", 0, most_vertices);
  std::uint64_t vertices = 1, level = 1;
  for (std::uint64_t d = 0; d < depth && level != 0; ++d) {
    level *= fanout;
    vertices += level;
    if (vertices > most_vertices)
      refuse("'" + std::string(how.text()) + "' has more than " + std::to_string(most_vertices) +
             " vertices");
  }
  return recipe_by_rows(static_cast<vertex_t>(vertices), false, true, [=](vertex_t v, auto&& emit) {
    if (v != 0) emit(static_cast<vertex_t>((v - 1) / fanout), 0.0f);
    const std::uint64_t first = v * fanout + 1;
    for (std::uint64_t child = first; child < std::min(first + fanout, vertices); ++child)
      emit(static_cast<vertex_t>(child), 0.0f);
  });
}

// Component k leads from vertex 2k to vertex 2k + 2, by one edge of weight 2^(N-1-k) and by two
// edges of weight 0 through vertex 2k + 1. All sums of the long edges differ. If news of the long
// edge always comes first, vertex 2k + 2 is corrected once for each way that leads to it: 2^k
// times. Source: Naylor et al. 2020, section V.F, which gives no graph.
recipe make_detours(const specification& how, unsigned) {
  // Floats hold whole numbers below 2^24 exactly.
  const auto components = static_cast<vertex_t>(how.whole("components", 0, 24));
  return recipe_by_rows(2 * components + 1, true, false, [=](vertex_t v, auto&& emit) {
    if (v == 2 * components) return;
    emit(v + 1, 0.0f);
    if (v % 2 == 0) emit(v + 2, static_cast<float>(1u << (components - 1 - v / 2)));
  });
}

recipe make_empty(const specification& how, unsigned) {
  return recipe_by_rows(how.vertices(), false, true, [](vertex_t, auto&&) {});
}

}  // namespace tutti::graph
