// SPDX-License-Identifier: Apache-2.0
// Maps parts to ranks that form groups. It fills one group after another with the part that
// exchanges most with it, then exchanges pairs of parts (after Kernighan and Lin 1970) as long as
// that keeps more edges inside the groups.
#include <algorithm>
#include <numeric>
#include <string>

#include "src/graph/partition/methods.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::graph {

namespace {

void check(const csr& parts, rank_t group) {
  if (group == 0) refuse("a group must have at least one rank");
  if (!parts.weighted() && parts.edges() != 0)
    refuse("placing parts needs the numbers of edges between them, as weights");
}

// The edges in both directions between each two parts, with sorted rows.
csr both_ways(const csr& parts) {
  edge_list list;
  list.vertices = parts.vertices;
  for (vertex_t u = 0; u < parts.vertices; ++u)
    for (std::size_t i = 0; i < parts.out(u).size(); ++i) {
      const vertex_t v = parts.out(u)[i];
      if (u == v) continue;
      list.add(u, v, parts.weights_of(u)[i]);
      list.add(v, u, parts.weights_of(u)[i]);
    }
  return sorted(from_edges(std::move(list)));
}

class placing {
 public:
  placing(const csr& talk, rank_t group)
      : talk_(talk),
        group_(std::min(group, std::max<rank_t>(talk.vertices, 1))),
        groups_(talk.vertices / group_ + (talk.vertices % group_ != 0 ? 1 : 0)) {}

  std::vector<rank_t> greedy() const {
    std::vector<rank_t> rank_of(talk_.vertices, no_vertex);
    rank_t next = 0;
    std::vector<double> pull(talk_.vertices);
    while (next < talk_.vertices) {
      std::fill(pull.begin(), pull.end(), 0);
      const rank_t end = std::min<rank_t>(next + group_, talk_.vertices);
      for (bool is_first = true; next < end; is_first = false) {
        rank_t best = no_vertex;
        double best_pull = 0;
        for (rank_t p = 0; p < talk_.vertices; ++p) {
          if (rank_of[p] != no_vertex) continue;
          const double its = is_first ? total(p) : pull[p];
          if (best == no_vertex || its > best_pull) {
            best = p;
            best_pull = its;
          }
        }
        rank_of[best] = next++;
        for (std::size_t i = 0; i < talk_.out(best).size(); ++i)
          pull[talk_.out(best)[i]] += double{talk_.weights_of(best)[i]};
      }
    }
    return rank_of;
  }

  void exchange_pairs(std::vector<rank_t>& rank_of) const {
    // With this many parts, a table of parts x groups and a pass over all pairs are still cheap.
    constexpr vertex_t most = 2048;
    constexpr int rounds = 50;
    if (talk_.vertices > most || groups_ < 2) return;
    std::vector<double> to_group(std::size_t{talk_.vertices} * groups_, 0);
    const auto to = [&](rank_t p, rank_t g) -> double& {
      return to_group[std::size_t{p} * groups_ + g];
    };
    const auto each_partner = [&](rank_t p, const auto& f) {
      for (std::size_t i = 0; i < talk_.out(p).size(); ++i)
        f(talk_.out(p)[i], double{talk_.weights_of(p)[i]});
    };
    const auto group_of = [&](rank_t p) { return rank_of[p] / group_; };
    for (rank_t p = 0; p < talk_.vertices; ++p)
      each_partner(p, [&](rank_t q, double edges) { to(p, group_of(q)) += edges; });

    for (int round = 0; round < rounds; ++round) {
      bool changed = false;
      for (rank_t a = 0; a < talk_.vertices; ++a)
        for (rank_t b = a + 1; b < talk_.vertices; ++b) {
          const rank_t at_a = group_of(a), at_b = group_of(b);
          if (at_a == at_b) continue;
          const double gain = to(a, at_b) - to(a, at_a) + to(b, at_a) - to(b, at_b);
          if (gain <= 0 || gain - 2 * between(a, b) <= 0) continue;
          each_partner(a, [&](rank_t q, double edges) {
            to(q, at_a) -= edges;
            to(q, at_b) += edges;
          });
          each_partner(b, [&](rank_t q, double edges) {
            to(q, at_b) -= edges;
            to(q, at_a) += edges;
          });
          std::swap(rank_of[a], rank_of[b]);
          changed = true;
        }
      if (!changed) return;
    }
  }

 private:
  double total(rank_t p) const {
    const auto weights = talk_.weights_of(p);
    return std::accumulate(weights.begin(), weights.end(), 0.0);
  }
  double between(rank_t a, rank_t b) const {
    const auto row = talk_.out(a);
    double sum = 0;
    for (auto at = std::lower_bound(row.begin(), row.end(), b); at != row.end() && *at == b; ++at)
      sum += double{talk_.weights_of(a)[static_cast<std::size_t>(at - row.begin())]};
    return sum;
  }

  const csr& talk_;
  rank_t group_;
  rank_t groups_;
};

}  // namespace

double between_groups(const csr& parts, std::span<const rank_t> rank_of, rank_t group) {
  check(parts, group);
  check_parts(parts.vertices, rank_of, std::max<rank_t>(parts.vertices, 1));
  double sum = 0;
  for (vertex_t u = 0; u < parts.vertices; ++u)
    for (std::size_t i = 0; i < parts.out(u).size(); ++i)
      if (rank_of[u] / group != rank_of[parts.out(u)[i]] / group)
        sum += double{parts.weights_of(u)[i]};
  return sum;
}

std::vector<rank_t> place(const csr& parts, rank_t group) {
  check(parts, group);
  std::vector<rank_t> as_given(parts.vertices);
  std::iota(as_given.begin(), as_given.end(), 0);
  const csr talk = both_ways(parts);
  const placing places(talk, group);
  std::vector<rank_t> best = as_given;
  for (std::vector<rank_t> candidate : {as_given, places.greedy()}) {
    places.exchange_pairs(candidate);
    if (between_groups(parts, candidate, group) < between_groups(parts, best, group))
      best = std::move(candidate);
  }
  return best;
}

}  // namespace tutti::graph
