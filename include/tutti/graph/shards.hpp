// SPDX-License-Identifier: Apache-2.0
// Cuts graphs into shards, one per participant. Every process makes the shards of its own
// participants and numbers the lists of the others in the same way, so the processes exchange
// nothing. With shares of a graph (share.hpp) the participants tell each other where the lists
// begin.
//
// Cost: two passes over the edges, shared by the threads. Memory of the shards: 4 bytes per edge,
// the edge's value, and 16 bytes per pair of a vertex and a participant to which it sends.
// This needs the compiled libraries tutti and tutti::graph_data.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/program.hpp"
#include "tutti/graph/shard.hpp"
#include "tutti/graph/share.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/team/team.hpp"

namespace tutti::graph {

// A set of out-edges for every vertex, and the values that the edges carry. It refers to its
// arguments.
template <class Edge>
struct edge_set {
  const csr* edges = nullptr;
  // One value per edge. Empty values stand for the graph's weights (1 if it has none) if Edge is
  // float, and are allowed for types without content.
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

// Makes what an edge of a share carries from its weight. Null: the weight itself.
template <class Edge>
using edge_of_weight = Edge (*)(float weight);

// The range of shards that are made here.
struct shard_range {
  rank_t first = 0;
  // The default reaches up to the last shard.
  rank_t count = (std::numeric_limits<rank_t>::max)();
};

// The shards of a range of participants. It keeps no reference to its arguments.
template <class Edge>
class shards {
 public:
  // pins[n] is the set of edges that pin(n) stands for; all have the same vertices. `owners[v]` is
  // the participant that holds vertex v; it is less than `participants`. `with_in_lists` also makes
  // shard::in_lists and shard::out_lists, and `with_first_lists` what first_lists() returns. Throws
  // std::invalid_argument if the arguments do not fit together.
  shards(std::span<const edge_set<Edge>> pins, std::span<const rank_t> owners, rank_t participants,
         shard_range here = {}, rank_t threads = 1, bool with_in_lists = false,
         bool with_first_lists = false)
      : pins_(pins), participants_(participants), first_(here.first) {
    require_sound(owners);
    here.count = (std::min)(here.count, participants - here.first);
    place_vertices(owners);
    made_.resize(here.count);
    counts_.resize(std::size_t{participants} * participants);
    team workers(team_options{.threads = std::max<rank_t>(1, (std::min)(threads, participants)),
                              .place = platform::placement::none});
    const loop_options one_by_one{.kind = loop::dynamic_chunks, .chunk = 1};
    workers.parallel_for(
        0, participants, [&](std::size_t p) { count(static_cast<rank_t>(p)); }, one_by_one);
    number_lists();
    if (with_first_lists) keep_first_lists();
    workers.parallel_for(
        0, here.count, [&](std::size_t i) { reserve(static_cast<rank_t>(first_ + i)); },
        one_by_one);
    workers.parallel_for(
        0, participants, [&](std::size_t p) { fill(static_cast<rank_t>(p)); }, one_by_one);
    workers.parallel_for(
        0, here.count, [&](std::size_t i) { count_in_edges(made_[i], with_in_lists); }, one_by_one);
    free_scaffold();
  }

  // The shards of a share, whose arrays they take over. A list's number counts all lists of its
  // receiver, but a share knows only those between each sender and receiver: before the shards are
  // used, each participant here calls number_routes() with what the others' first_lists() say.
  // An edge carries nothing, its weight, or what of_weight() makes of it (1 in a share without
  // weights). Throws std::invalid_argument if that is missing.
  explicit shards(graph_share&& part, bool with_in_lists = false,
                  edge_of_weight<Edge> of_weight = nullptr)
      : participants_(part.participants()), first_(part.first), vertices_(part.vertices) {
    require(!shard<Edge>::has_values || std::is_same_v<Edge, float> || of_weight != nullptr,
            "the edges of a share carry a weight or nothing");
    made_.resize(part.parts.size());
    first_lists_.resize(made_.size());
    for (std::size_t i = 0; i < made_.size(); ++i) take_over(part, i, with_in_lists, of_weight);
  }
  // By sender: the number of its first list among those that lead to `participant`, which was made
  // here from a share, or with first lists.
  std::span<const std::uint32_t> first_lists(rank_t participant) const noexcept {
    return first_lists_[participant - first_];
  }
  // by_receiver[q] is the number of the first list from `participant` to q. Call it once.
  void number_routes(rank_t participant, std::span<const std::uint32_t> by_receiver) noexcept {
    shard<Edge>& mine = made_[participant - first_];
    for (route& each : mine.routes)
      if (each.to != participant) each.list += by_receiver[each.to];
    mine.out_lists.renumber(participant, by_receiver);
  }

  // The shard of a participant, for combine_messages(): those who own it change it.
  shard<Edge>& of(rank_t participant) noexcept { return made_[participant - first_]; }
  // Makes shard::in_lists and, if there are slots, their lists.
  static void make_in_lists(shard<Edge>& mine) {
    const std::size_t places = mine.vertices.size() + mine.slots.size();
    std::vector<std::uint32_t> counts(places, 0);
    for (const vertex_t t : mine.targets) ++counts[t];
    std::vector<edge_t> next(places);
    std::exclusive_scan(counts.begin(), counts.end(), next.begin(), edge_t{0});
    std::vector<std::uint32_t> lists(mine.targets.size());
    for (std::uint32_t list = 0; list < mine.lists(); ++list)
      for (edge_t i = mine.first_target[list]; i < mine.first_target[list + std::size_t{1}]; ++i)
        lists[next[mine.targets[i]]++] = list;
    const auto first_of_slots = counts.begin() + static_cast<std::ptrdiff_t>(mine.vertices.size());
    mine.slot_list_counts.assign(first_of_slots, counts.end());
    counts.erase(first_of_slots, counts.end());
    const auto of_slots = std::accumulate(mine.slot_list_counts.begin(),
                                          mine.slot_list_counts.end(), std::ptrdiff_t{0});
    mine.slot_lists.assign(lists.end() - of_slots, lists.end());
    lists.resize(lists.size() - mine.slot_lists.size());
    std::vector<edge_t>().swap(next);
    mine.in_lists = in_lists(counts, std::move(lists));
  }

  vertex_t vertices() const noexcept { return vertices_; }
  rank_t participants() const noexcept { return participants_; }
  // Precondition: the shard was made here.
  const shard<Edge>& operator[](rank_t participant) const noexcept {
    return made_[participant - first_];
  }

 private:
  struct place {
    rank_t owner;
    vertex_t local;
  };
  // The numbers of lists and targets that one participant has for another; later the positions at
  // which they begin.
  struct amounts {
    edge_t lists = 0;
    edge_t targets = 0;
  };

  // The participants to which one set of out-edges leads, each once.
  class destinations {
   public:
    explicit destinations(rank_t participants) : seen_(participants, 0) {}

    // The owner's successor comes first and the owner itself last, so that the participants do not
    // all begin with the same one.
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
    require(first_ < participants_, "the first shard made here must be that of a participant");
    require(!pins_.empty(), "a vertex program needs at least one set of out-edges");
    for (const auto& set : pins_) {
      require(set.edges != nullptr, "a set of out-edges has no graph");
      require(set.edges->vertices == pins_[0].edges->vertices,
              "the pins' graphs have different vertices");
      require(set.values.empty() || set.values.size() == set.edges->edges(),
              "a set of out-edges must have one value for each edge");
      require(!set.values.empty() || set.edges->edges() == 0 || std::is_same_v<Edge, float> ||
                  !shard<Edge>::has_values,
              "edges of this type need values");
    }
    vertices_ = pins_[0].edges->vertices;
    require(owners.size() == vertices_, "a partition must have one participant for each vertex");
    for (std::size_t v = 0; v < owners.size(); ++v)
      if (owners[v] >= participants_)
        refuse("the partition gives vertex " + std::to_string(v) + " to participant " +
               std::to_string(owners[v]) + ", but there are only " + std::to_string(participants_));
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

  // Turns the amounts into the positions at which they begin.
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
      // The last number is reserved for messages to the host.
      if (total.lists >= (std::numeric_limits<std::uint32_t>::max)())
        refuse("participant " + std::to_string(q) +
               " would have more than 2^32 - 2 lists of targets; use more participants");
    }
  }

  void keep_first_lists() {
    first_lists_.resize(made_.size());
    for (std::size_t i = 0; i < made_.size(); ++i)
      for (rank_t p = 0; p < participants_; ++p)
        first_lists_[i].push_back(
            static_cast<std::uint32_t>(between(p, first_ + static_cast<rank_t>(i)).lists));
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

  // Each participant writes a range of its own of the lists of another, so all of them can write at
  // once.
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

  void take_over(graph_share& from, std::size_t i, bool with_in_lists,
                 edge_of_weight<Edge> of_weight) {
    const rank_t p = first_ + static_cast<rank_t>(i);
    participant_share& part = from.parts[i];
    shard<Edge>& mine = made_[i];
    mine.rank = p;
    mine.vertices.resize(from.blocks[p + std::size_t{1}] - from.blocks[p]);
    std::iota(mine.vertices.begin(), mine.vertices.end(), from.blocks[p]);
    if (part.sources.size() >= (std::numeric_limits<std::uint32_t>::max)())
      refuse("participant " + std::to_string(p) +
             " would have more than 2^32 - 2 lists of targets; use more participants");
    // The lists are numbered in the order of their senders' vertices, and blocks ascend.
    auto& firsts = first_lists_[i];
    for (rank_t q = 0; q < participants_; ++q)
      firsts.push_back(static_cast<std::uint32_t>(
          std::lower_bound(part.sources.begin(), part.sources.end(), from.blocks[q]) -
          part.sources.begin()));
    make_routes(from, part, mine, firsts[p]);
    std::vector<vertex_t>().swap(part.sources);
    mine.out_degrees = std::move(part.out_degrees);
    mine.in_degrees.resize(mine.vertices.size());
    mine.first_target = std::move(part.first_target);
    mine.targets = std::move(part.targets);
    if constexpr (shard<Edge>::has_values) {
      std::vector<float> weights = std::move(part.weights);
      if (!from.weighted) weights.assign(mine.targets.size(), 1.0f);
      if constexpr (std::is_same_v<Edge, float>) {
        if (of_weight == nullptr) mine.values = std::move(weights);
      }
      if (of_weight != nullptr) {
        mine.values.reserve(weights.size());
        for (const float weight : weights) mine.values.push_back(of_weight(weight));
      }
    }
    count_in_edges(mine, with_in_lists);
  }

  // The numbers of the lists count from 0 for each receiver, but for the participant itself.
  void make_routes(const graph_share& from, participant_share& part, shard<Edge>& mine,
                   std::uint32_t first_own_list) {
    const std::size_t words = from.words();
    std::size_t routes = 0;
    for (const std::uint64_t word : part.leads_to)
      routes += static_cast<std::size_t>(std::popcount(word));
    mine.routes.reserve(routes);
    mine.first_route.reserve(mine.vertices.size() + 1);
    mine.first_route.push_back(0);
    std::vector<std::uint32_t> next(participants_, 0);
    next[mine.rank] = first_own_list;
    for (std::size_t local = 0; local < mine.vertices.size(); ++local) {
      const std::uint64_t* const leads_to = part.leads_to.data() + local * words;
      // The order is that of destinations::of(): the successor first, the owner itself last.
      for (rank_t step = 1; step <= participants_; ++step) {
        const rank_t q = (mine.rank + step) % participants_;
        if ((leads_to[q / 64] >> q % 64 & 1) != 0) mine.routes.push_back({q, next[q]++});
      }
      mine.first_route.push_back(mine.routes.size());
    }
    std::vector<std::uint64_t>().swap(part.leads_to);
  }

  void count_in_edges(shard<Edge>& mine, bool with_in_lists) const {
    for (const vertex_t t : mine.targets) ++mine.in_degrees[t];
    if (!with_in_lists) return;
    make_in_lists(mine);
    if (mine.pins == 1) mine.out_lists = out_lists(mine.first_route, mine.routes, participants_);
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
  // See first_lists(); empty unless the shards come from a share or it was asked for.
  std::vector<std::vector<std::uint32_t>> first_lists_;

  // These exist only while the shards are made.
  // The owner and local number of each vertex.
  std::vector<place> places_;
  // The vertices of each participant.
  std::vector<std::vector<vertex_t>> vertices_of_;
  // See between().
  std::vector<amounts> counts_;
  // The totals of each participant.
  std::vector<amounts> totals_;
};

}  // namespace tutti::graph
