// SPDX-License-Identifier: Apache-2.0
// Streaming partitions: each vertex in turn, in the order of the numbers, goes to the part that is
// best for it at that time. A good part has many of the neighbours that are already placed, and is
// not crowded. No part grows beyond (1 + slack) times the mean.
//
//   fennel  most neighbours - alpha * gamma * size^(gamma - 1), gamma = 3/2,
//           alpha = sqrt(k) m / n^(3/2)
//           Tsourakakis, Gkantsidis, Radunovic and Vojnovic, "FENNEL: streaming graph partitioning
//           for massive scale graphs", WSDM 2014
//   ldg     most neighbours * (1 - size / capacity)
//           Stanton and Kliot, "Streaming graph partitioning for large distributed graphs", KDD
//           2012
//
// Further passes take each vertex out again and place it anew, when all its neighbours have a
// place: Nishimura and Ugander, "Restreaming graph partitioning", KDD 2013.
//
// A neighbour at either end of an edge counts one half, so that the neighbours of a symmetric graph
// count once. Cost: each pass reads the edges twice.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/graph/partition/methods.hpp"

namespace tutti::graph {

namespace {

// The parts in the order of their sizes, maintained while sizes change by one. A part that grows
// changes places with the last part of its size; a part that shrinks changes places with the first.
class by_size {
 public:
  explicit by_size(rank_t parts) : order_(parts), place_(parts), size_(parts, 0), ends_(1, parts) {
    std::iota(order_.begin(), order_.end(), 0);
    std::iota(place_.begin(), place_.end(), 0);
  }
  rank_t smallest() const noexcept { return order_.front(); }
  vertex_t size(rank_t part) const noexcept { return size_[part]; }
  void grow(rank_t part) {
    const vertex_t size = size_[part]++;
    // The last part of this size. It becomes the first part of the next size.
    const rank_t last = --ends_[size];
    if (ends_.size() == size + std::size_t{1}) ends_.push_back(static_cast<rank_t>(order_.size()));
    exchange(part, order_[last]);
  }

  void shrink(rank_t part) {
    const vertex_t size = --size_[part];
    exchange(part, order_[ends_[size]++]);
  }

 private:
  void exchange(rank_t a, rank_t b) {
    std::swap(order_[place_[a]], order_[place_[b]]);
    std::swap(place_[a], place_[b]);
  }

  std::vector<rank_t> order_;
  std::vector<rank_t> place_;
  std::vector<vertex_t> size_;
  // How many parts have at most each size, which is where they end in order_.
  std::vector<rank_t> ends_;
};

}  // namespace

std::vector<rank_t> streamed(const csr& graph, rank_t parts, const partition_options& options,
                             greedy rule) {
  const csr in = transpose(graph);
  const double n = graph.vertices, k = parts;
  const double gamma = 1.5;
  const double alpha = std::sqrt(k) * (static_cast<double>(graph.edges()) / 2) / std::pow(n, 1.5);
  const auto capacity =
      std::max(static_cast<vertex_t>(std::ceil(n / k)),
               static_cast<vertex_t>(std::min(std::floor((1 + options.slack) * n / k), n)));
  const auto score = [&](double neighbours, double size) {
    return rule == greedy::fennel ? neighbours - alpha * gamma * std::sqrt(size)
                                  : neighbours * (1 - size / capacity);
  };

  std::vector<rank_t> part(graph.vertices, parts);
  std::vector<double> neighbours(parts, 0);
  std::vector<rank_t> touched;
  by_size sizes(parts);
  const auto place_vertex = [&](vertex_t v) {
    for (const csr* direction : {&graph, &in})
      for (const vertex_t other : direction->out(v)) {
        const rank_t there = part[other];
        if (there == parts) continue;
        if (neighbours[there] == 0) touched.push_back(there);
        neighbours[there] += 0.5;
      }
    // The smallest part is the best of those without neighbours.
    rank_t best = sizes.smallest();
    double best_score = score(neighbours[best], sizes.size(best));
    for (const rank_t candidate : touched) {
      if (sizes.size(candidate) >= capacity) continue;
      const double its_score = score(neighbours[candidate], sizes.size(candidate));
      if (its_score < best_score) continue;
      const bool is_tie = its_score == best_score;
      if (is_tie && sizes.size(candidate) > sizes.size(best)) continue;
      if (is_tie && sizes.size(candidate) == sizes.size(best) && candidate > best) continue;
      best = candidate;
      best_score = its_score;
    }
    part[v] = best;
    sizes.grow(best);
    for (const rank_t each : touched) neighbours[each] = 0;
    touched.clear();
  };
  for (unsigned pass = 0; pass < options.passes; ++pass)
    for (vertex_t v = 0; v < graph.vertices; ++v) {
      if (pass != 0) sizes.shrink(std::exchange(part[v], parts));
      place_vertex(v);
    }
  return part;
}

}  // namespace tutti::graph
