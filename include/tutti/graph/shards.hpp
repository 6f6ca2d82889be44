// SPDX-License-Identifier: Apache-2.0
// Cuts graphs into shards, one a participant. Every process makes those of its own participants and numbers the lists of
// the others' in the same way, so that nothing has to be exchanged.
//
// Cost: two passes over the edges, shared by the threads; memory for the shards: 4 bytes an edge, its value, and 16 bytes
// for each pair of a vertex and a participant that it sends to.
// Needs the compiled libraries (the team, the graphs' data).
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/program.hpp"
#include "tutti/graph/shard.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph {

// A set of out-edges for every vertex, and what the edges carry. Refers to what it is given.
template <class Edge>
struct edge_set {
  const csr* edges = nullptr;
  // One for each edge. Empty: the graph's weights, 1 if it has none; for Edge = float and for types without content.
  std::span<const Edge> values = {};

  Edge value(edge_t e) const noexcept {
    if (!values.empty()) return values[e];
    if constexpr (std::is_same_v<Edge, float>) {
      return edges->weighted() ? edges->weights[e] : 1.0f;
    } else {
      return {};
    }
  }
};

// Which of all shards are made here.
struct shard_range {
  rank_t first = 0;
  rank_t count = std::numeric_limits<rank_t>::max();  // up to the last
};

template <class Edge>
class shards {
 public:
  // pins[n] is what pin(n) means; all have the same vertices. `owners[v]` is the participant that has vertex v, less than
  // `participants`. Throws std::invalid_argument if that does not hold. `with_in_lists`: makes shard::in_lists too.
  shards(std::span<const edge_set<Edge>> pins, std::span<const rank_t> owners, rank_t participants,
         shard_range here = {}, rank_t threads = 1, bool with_in_lists = false)
      : pins_(pins), participants_(participants), first_(here.first) {
    require_sound(owners);
    here.count = std::min(here.count, participants - here.first);
    place_vertices(owners);
    made_.resize(here.count);
    counts_.resize(std::size_t{participants} * participants);
    team crew(team_options{.threads = std::max<rank_t>(1, std::min(threads, participants)),
                           .place = platform::placement::none});
    const loop_options one_by_one{.kind = loop::dynamic_chunks, .chunk = 1};
    crew.parallel_for(
        0, participants, [&](std::size_t p) { count(static_cast<rank_t>(p)); }, one_by_one);
    number_lists();
    crew.parallel_for(
        0, here.count, [&](std::size_t i) { reserve(static_cast<rank_t>(first_ + i)); },
        one_by_one);
    crew.parallel_for(
        0, participants, [&](std::size_t p) { fill(static_cast<rank_t>(p)); }, one_by_one);
    crew.parallel_for(
        0, here.count, [&](std::size_t i) { count_in_edges(made_[i], with_in_lists); }, one_by_one);
    free_scaffold();
  }

  vertex_t vertices() const noexcept { return vertices_; }
  rank_t participants() const noexcept { return participants_; }
  // Precondition: made here.
  const shard<Edge>& operator[](rank_t participant) const noexcept {
    return made_[participant - first_];
  }

 private:
  struct place {
    rank_t owner;
    vertex_t local;
  };
  // What one participant has for another: lists and their targets; then, where they begin.
  struct amounts {
    edge_t lists = 0;
    edge_t targets = 0;
  };

  // The participants that one set of out-edges leads to, each once.
  class destinations {
   public:
    explicit destinations(rank_t participants) : seen_(participants, 0) {}

    // The owner itself comes last, its successor first: not everybody begins with the same one.
    const std::vector<rank_t>& of(std::span<const vertex_t> targets, rank_t owner,
                                  const std::vector<place>& places) {
      found_.clear();
      ++stamp_;
      for (const vertex_t t : targets) {
        const rank_t to = places[t].owner;
        if (seen_[to] == stamp_) continue;
        seen_[to] = stamp_;
        found_.push_back(to);
      }
      const auto n = static_cast<rank_t>(seen_.size());
      const auto distance = [&](rank_t r) { return r > owner ? r - owner : r + n - owner; };
      std::sort(found_.begin(), found_.end(),
                [&](rank_t a, rank_t b) { return distance(a) < distance(b); });
      return found_;
    }

   private:
    std::vector<std::uint64_t> seen_;
    std::uint64_t stamp_ = 0;
    std::vector<rank_t> found_;
  };

  amounts& between(rank_t from, rank_t to) noexcept {
    return counts_[std::size_t{from} * participants_ + to];
  }
  bool is_here(rank_t p) const noexcept { return p >= first_ && p - first_ < made_.size(); }

  void require_sound(std::span<const rank_t> owners) {
    require(participants_ >= 1, "a graph needs at least one participant");
    require(first_ < participants_, "the first shard made here is not one of the participants'");
    require(!pins_.empty(), "a vertex program needs at least one set of out-edges");
    for (const auto& set : pins_) {
      require(set.edges != nullptr, "a set of out-edges has no graph");
      require(set.edges->vertices == pins_[0].edges->vertices,
              "the pins' graphs have different vertices");
      require(set.values.empty() || set.values.size() == set.edges->edges(),
              "a set of out-edges has not one value for each edge");
      require(!set.values.empty() || set.edges->edges() == 0 || std::is_same_v<Edge, float> ||
                  !shard<Edge>::has_values,
              "this type of edge needs values");
    }
    vertices_ = pins_[0].edges->vertices;
    require(owners.size() == vertices_, "a partition has not one participant for each vertex");
    for (std::size_t v = 0; v < owners.size(); ++v)
      if (owners[v] >= participants_)
        refuse("the partition gives vertex " + std::to_string(v) + " to participant " +
               std::to_string(owners[v]) + " of " + std::to_string(participants_));
  }

  void place_vertices(std::span<const rank_t> owners) {
    vertices_of_.resize(participants_);
    places_.resize(vertices_);
    for (vertex_t v = 0; v < vertices_; ++v) {
      auto& mine = vertices_of_[owners[v]];
      places_[v] = {owners[v], static_cast<vertex_t>(mine.size())};
      mine.push_back(v);
    }
  }

  // Calls visit(local vertex, pin, graph) for each set of out-edges of participant p.
  template <class Visit>
  void for_each_set(rank_t p, Visit&& visit) const {
    for (vertex_t local = 0; local < vertices_of_[p].size(); ++local)
      for (std::uint32_t k = 0; k < pins_.size(); ++k) visit(local, k, *pins_[k].edges);
  }

  void count(rank_t p) {
    destinations to(participants_);
    for_each_set(p, [&](vertex_t local, std::uint32_t, const csr& graph) {
      const auto targets = graph.out(vertices_of_[p][local]);
      for (const vertex_t t : targets) {
        if (t >= vertices_)
          refuse("an edge leads to vertex " + std::to_string(t) +
                 ", which the graph does not have");
        ++between(p, places_[t].owner).targets;
      }
      for (const rank_t q : to.of(targets, p, places_)) ++between(p, q).lists;
    });
  }

  // From how many to where they begin.
  void number_lists() {
    for (rank_t q = 0; q < participants_; ++q) {
      amounts total;
      for (rank_t p = 0; p < participants_; ++p) {
        const amounts own = between(p, q);
        between(p, q) = total;
        total.lists += own.lists;
        total.targets += own.targets;
      }
      totals_.push_back(total);
      // The last number marks messages to the host.
      if (total.lists >= std::numeric_limits<std::uint32_t>::max())
        refuse("participant " + std::to_string(q) +
               " would have more than 2^32 - 2 lists of targets; use more participants");
    }
  }

  void reserve(rank_t q) {
    shard<Edge>& mine = made_[q - first_];
    const auto sets = vertices_of_[q].size() * pins_.size();
    mine.rank = q;
    mine.pins = static_cast<std::uint32_t>(pins_.size());
    mine.vertices = vertices_of_[q];
    mine.first_route.reserve(sets + 1);
    mine.first_route.push_back(0);
    mine.out_degrees.reserve(sets);
    mine.in_degrees.resize(mine.vertices.size());
    mine.first_target.resize(totals_[q].lists + 1);
    mine.first_target.back() = totals_[q].targets;
    mine.targets.resize(totals_[q].targets);
    if constexpr (shard<Edge>::has_values) mine.values.resize(totals_[q].targets);
  }

  // Each participant's part of another's lists is a range of its own, so that all can write at once.
  void fill(rank_t p) {
    destinations to(participants_);
    std::vector<amounts> next(
        counts_.begin() + static_cast<std::ptrdiff_t>(std::size_t{p} * participants_),
        counts_.begin() + static_cast<std::ptrdiff_t>(std::size_t{p + 1} * participants_));
    for_each_set(p, [&](vertex_t local, std::uint32_t k, const csr& graph) {
      const vertex_t v = vertices_of_[p][local];
      const auto& reached = to.of(graph.out(v), p, places_);
      for (const rank_t q : reached) {
        if (is_here(p))
          made_[p - first_].routes.push_back({q, static_cast<std::uint32_t>(next[q].lists)});
        if (is_here(q)) made_[q - first_].first_target[next[q].lists] = next[q].targets;
        ++next[q].lists;
      }
      for (edge_t e = graph.offsets[v]; e < graph.offsets[v + std::size_t{1}]; ++e) {
        const place target = places_[graph.targets[e]];
        if (!is_here(target.owner)) continue;
        shard<Edge>& theirs = made_[target.owner - first_];
        const edge_t at = next[target.owner].targets++;
        theirs.targets[at] = target.local;
        if constexpr (shard<Edge>::has_values) theirs.values[at] = pins_[k].value(e);
      }
      if (is_here(p)) {
        shard<Edge>& mine = made_[p - first_];
        mine.first_route.push_back(mine.routes.size());
        mine.out_degrees.push_back(static_cast<std::uint32_t>(graph.degree(v)));
      }
    });
  }

  static void count_in_edges(shard<Edge>& mine, bool with_in_lists) {
    for (const vertex_t t : mine.targets) ++mine.in_degrees[t];
    if (!with_in_lists) return;
    std::vector<edge_t> next(mine.vertices.size());
    std::exclusive_scan(mine.in_degrees.begin(), mine.in_degrees.end(), next.begin(), edge_t{0});
    mine.in_lists.resize(mine.targets.size());
    for (std::uint32_t list = 0; list < mine.lists(); ++list)
      for (edge_t i = mine.first_target[list]; i < mine.first_target[list + std::size_t{1}]; ++i)
        mine.in_lists[next[mine.targets[i]]++] = list;
  }

  void free_scaffold() {
    pins_ = {};
    places_ = {};
    vertices_of_ = {};
    counts_ = {};
    totals_ = {};
  }

  std::span<const edge_set<Edge>> pins_;
  rank_t participants_;
  rank_t first_;
  vertex_t vertices_ = 0;
  std::vector<shard<Edge>> made_;

  // Only while the shards are made.
  std::vector<place> places_;                       // of each vertex
  std::vector<std::vector<vertex_t>> vertices_of_;  // each participant
  std::vector<amounts> counts_;                     // see between()
  std::vector<amounts> totals_;                     // for each participant
};

}  // namespace tutti::graph
