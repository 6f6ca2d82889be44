// SPDX-License-Identifier: Apache-2.0
// Geometric random graphs, the benchmark graphs of Naylor et al. 2020: points in the unit square,
// and an edge in both directions between any two points that are nearer than the radius. Points are
// looked up in cells that are no smaller than the radius. Coordinates and distances are integers,
// so that no rounding decides about an edge.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "src/graph/generate/generators.hpp"
#include "src/graph/generate/random.hpp"
#include "src/graph/parallel.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

constexpr unsigned side_bits = 30;
constexpr std::int64_t side = std::int64_t{1} << side_bits;

struct point {
  std::uint32_t x;
  std::uint32_t y;
};

double radius_of(const specification& how, vertex_t vertices) {
  if (how.is_given("radius") && how.is_given("degree"))
    refuse("generator 'geometric' accepts degree or radius, not both");
  if (how.is_given("radius")) return how.real("radius", 0, 1.5);
  const double degree = how.real("degree", 0, 0x1p31);
  if (vertices == 0) return 0;
  if (degree >= vertices && vertices > 1)
    refuse("generator 'geometric': the mean degree, " + std::string(how.value_of("degree")) +
           (how.is_given("degree") ? "" : " unless degree=... says otherwise") +
           ", must be less than the number of vertices, " + std::to_string(vertices));
  constexpr double pi = 3.14159265358979323846;
  return std::min(std::sqrt(degree / (pi * vertices)), 1.5);
}

class square {
 public:
  square(vertex_t vertices, double radius, bool wrap, std::uint64_t seed, unsigned threads)
      : wrap_(wrap), radius_(static_cast<std::int64_t>(radius * static_cast<double>(side))) {
    // Cells smaller than one per point would only cost memory.
    const auto useful = static_cast<std::int64_t>(std::sqrt(static_cast<double>(vertices))) + 1;
    cells_ = std::max<std::int64_t>(1, std::min(useful, side / std::max<std::int64_t>(radius_, 1)));

    std::vector<point> drawn(vertices);
    in_parts(threads, vertices, 1 << 16, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t i = first; i < last; ++i) {
        const random_words words = random_block(seed, purpose::point, i);
        drawn[i] = {words[0] >> (32 - side_bits), words[1] >> (32 - side_bits)};
      }
    });
    starts_.assign(static_cast<std::size_t>(cells_ * cells_) + 1, 0);
    for (const point& p : drawn) ++starts_[cell_of(p) + 1];
    for (std::size_t c = 1; c < starts_.size(); ++c) starts_[c] += starts_[c - 1];
    std::vector<vertex_t> cursor(starts_.begin(), starts_.end() - 1);
    points_.resize(vertices);
    drawn_as_.resize(vertices);
    for (vertex_t i = 0; i < vertices; ++i) {
      const vertex_t place = cursor[cell_of(drawn[i])]++;
      points_[place] = drawn[i];
      drawn_as_[place] = i;
    }
  }

  // Maps a place, in the order of the cells, to the number with which the point was drawn.
  const std::vector<vertex_t>& drawn_as() const noexcept { return drawn_as_; }

  // Calls f(place) for each other point that is nearer than the radius.
  template <class F>
  void neighbours(vertex_t place, const F& f) const {
    const point here = points_[place];
    std::array<std::int64_t, 3> columns, rows;
    const std::size_t across = near(cell_at(here.x), columns), down = near(cell_at(here.y), rows);
    const std::int64_t limit = radius_ * radius_;
    for (std::size_t r = 0; r < down; ++r)
      for (std::size_t c = 0; c < across; ++c) {
        const auto cell = static_cast<std::size_t>(rows[r] * cells_ + columns[c]);
        for (vertex_t other = starts_[cell]; other < starts_[cell + 1]; ++other) {
          const std::int64_t dx = distance(here.x, points_[other].x);
          const std::int64_t dy = distance(here.y, points_[other].y);
          if (dx * dx + dy * dy < limit && other != place) f(other);
        }
      }
  }

 private:
  std::int64_t cell_at(std::uint32_t coordinate) const noexcept {
    return coordinate * cells_ >> side_bits;
  }
  std::size_t cell_of(const point& p) const noexcept {
    return static_cast<std::size_t>(cell_at(p.y) * cells_ + cell_at(p.x));
  }
  std::int64_t distance(std::uint32_t a, std::uint32_t b) const noexcept {
    const std::int64_t direct = a < b ? b - a : a - b;
    return wrap_ ? std::min(direct, side - direct) : direct;
  }
  // Writes a cell and its two neighbours in one dimension to `found`, ascending, each once. Returns
  // their number.
  std::size_t near(std::int64_t cell, std::array<std::int64_t, 3>& found) const noexcept {
    std::size_t count = 0;
    for (const std::int64_t step : {-1, 0, 1}) {
      std::int64_t other = cell + step;
      if (wrap_) other = (other + cells_) % cells_;
      if (other < 0 || other >= cells_) continue;
      if (std::find(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), other) ==
          found.begin() + static_cast<std::ptrdiff_t>(count))
        found[count++] = other;
    }
    return count;
  }

  bool wrap_;
  std::int64_t radius_;
  // The number of cells along a side.
  std::int64_t cells_ = 1;
  std::vector<vertex_t> starts_;
  std::vector<point> points_;
  std::vector<vertex_t> drawn_as_;
};

// Replaces each edge, with probability 1 - locality, by one from its lower end to any vertex.
class rewiring {
 public:
  rewiring(vertex_t vertices, double locality, std::uint64_t seed)
      : vertices_(vertices),
        limit_(static_cast<std::uint64_t>((1 - locality) * 0x1p32)),
        seed_(seed) {}

  // Calls emit(from, to) for both directions of what becomes of the edge from u to v; its reverse
  // becomes nothing.
  template <class Emit>
  void operator()(vertex_t u, vertex_t v, const Emit& emit) const {
    if (v < u) return;
    const random_words words = random_block(seed_, purpose::rewire, two_words(u, v));
    if (words[0] < limit_) {
      const auto other = static_cast<vertex_t>(below(vertices_ - 1, two_words(words[2], words[3])));
      v = other + (other >= u ? 1 : 0);
    }
    emit(u, v);
    emit(v, u);
  }

 private:
  vertex_t vertices_;
  std::uint64_t limit_;
  std::uint64_t seed_;
};

csr rewired(const csr& graph, double locality, std::uint64_t seed, unsigned threads) {
  const rewiring rewire(graph.vertices, locality, seed);
  edge_list list;
  list.vertices = graph.vertices;
  list.sources.reserve(graph.edges());
  list.targets.reserve(graph.edges());
  for (vertex_t u = 0; u < graph.vertices; ++u)
    for (const vertex_t v : graph.out(u))
      rewire(u, v, [&](vertex_t from, vertex_t to) {
        list.sources.push_back(from);
        list.targets.push_back(to);
      });
  csr result = from_edges(std::move(list), threads);
  sort_rows(result, threads);
  return result;
}

// The recipe of the graph of these rows, sorted and rewired.
template <class Row>
recipe finished(vertex_t vertices, double locality, std::uint64_t seed, const Row& row) {
  const auto whole = [=](unsigned threads) {
    csr graph = rows_by(vertices, false, threads, row);
    sort_rows(graph, threads);
    return locality < 1 ? rewired(graph, locality, seed, threads) : graph;
  };
  const auto list = [=](edge_sink& to) {
    const rewiring rewire(vertices, locality, seed);
    for (vertex_t u = 0; u < vertices; ++u)
      row(u, [&](vertex_t v, float) {
        if (locality < 1)
          rewire(u, v, [&](vertex_t a, vertex_t b) { to.add(a, b); });
        else
          to.add(u, v);
      });
  };
  return {vertices, false, true, row_order::sorted, whole, list};
}

}  // namespace

recipe make_geometric(const specification& how, unsigned threads) {
  const vertex_t vertices = how.vertices();
  const bool wrap = how.flag("wrap");
  const bool by_cells = how.choice("order", {"cells", "random"}) == 0;
  const double radius = radius_of(how, vertices);
  if (wrap && radius > 0.5)
    refuse("generator 'geometric': with wrap=1 the radius must be at most 0.5");
  const double locality = how.real("locality", 0, 1);
  const auto plane = std::make_shared<const square>(vertices, radius, wrap, how.seed(), threads);

  if (by_cells)
    return finished(vertices, locality, how.seed(), [=](vertex_t v, auto&& emit) {
      plane->neighbours(v, [&](vertex_t other) { emit(other, 0.0f); });
    });
  const auto place_of = std::make_shared<std::vector<vertex_t>>(vertices);
  for (vertex_t place = 0; place < vertices; ++place) (*place_of)[plane->drawn_as()[place]] = place;
  return finished(vertices, locality, how.seed(), [=](vertex_t v, auto&& emit) {
    plane->neighbours((*place_of)[v],
                      [&](vertex_t other) { emit(plane->drawn_as()[other], 0.0f); });
  });
}

}  // namespace tutti::graph
