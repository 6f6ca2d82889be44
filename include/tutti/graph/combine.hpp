// SPDX-License-Identifier: Apache-2.0
// Which messages are combined before they are sent: the choice, and the shards that follow from it.
//
// Without combining, a vertex sends one content to each participant with targets of it, and the
// receiver has the list of targets. Combined, all messages of one participant to one vertex of
// another become one content in a slot of the sender. The first pays where few vertices have edges
// to many, the second where many have edges to few. So the receiver chooses for each sender: it
// dissolves the lists all of whose targets have at least k edges from that sender, and the k, a
// power of two or infinite, is that with the fewest contents if all vertices send: the lists that
// are left, and the targets of the others. A dissolved list is no more, and its edges move to the
// sender, who keeps them at the end of its own list of the same vertex.
//
// Cost       The receivers send each dissolved edge once: 4 bytes and the edge's value. While the
//            shards change, a participant has the old lists and the new ones.
// Source     Combiners are those of Malewicz et al., "Pregel: a system for large-scale graph
//            processing" (2010), which has one message for each edge without them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/graph/program.hpp"
#include "tutti/graph/shards.hpp"

namespace tutti::graph::detail {

// Objects that one participant tells another, as bytes in short messages. They arrive in order.
template <class Endpoint, class Take>
class telling {
 public:
  telling(Endpoint& me, rank_t to, Take& take) : me_(me), to_(to), take_(take) {}
  ~telling() = default;
  telling(const telling&) = delete;
  telling& operator=(const telling&) = delete;

  template <class T>
  void put(const T& value) {
    if (sizeof value > sizeof bytes_ - used_) flush();
    if (sizeof value > sizeof bytes_) return me_.send_wait(to_, &value, sizeof value, take_);
    std::memcpy(bytes_ + used_, &value, sizeof value);
    used_ += sizeof value;
  }
  void flush() {
    if (used_ == 0) return;
    me_.send_wait(to_, bytes_, used_, take_);
    used_ = 0;
  }

 private:
  Endpoint& me_;
  rank_t to_;
  Take& take_;
  std::size_t used_ = 0;
  // A message of this size fits the smallest ring that a communicator makes by default.
  // The initialisation is for g++, which under AddressSanitizer cannot tell that flush() sends only
  // what put() wrote.
  std::byte bytes_[240] = {};
};

// Reads what telling wrote.
class told {
 public:
  void append(const received& message_in) {
    bytes_.insert(bytes_.end(), message_in.data, message_in.data + message_in.size);
  }
  bool empty() const noexcept { return bytes_.empty(); }
  template <class T>
  T get() noexcept {
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

// The lists from one sender that its receiver dissolves.
template <class Edge>
class dissolved_lists {
 public:
  explicit dissolved_lists(const shard<Edge>& mine)
      : graph_(mine), edges_to_(mine.vertices.size(), 0), best_(mine.vertices.size(), 0) {}

  // Chooses among the lists [first, last). It takes three passes over their targets.
  void choose(std::uint32_t first, std::uint32_t last) {
    first_ = first;
    grades_.resize(last - first);
    std::fill(std::begin(lists_), std::end(lists_), 0);
    std::fill(std::begin(targets_), std::end(targets_), 0);
    used_.clear();
    for (edge_t i = graph_.first_target[first]; i < graph_.first_target[last]; ++i)
      ++edges_to_[graph_.targets[i]];
    for (std::uint32_t list = first; list < last; ++list) grade(list);
    for (edge_t i = graph_.first_target[first]; i < graph_.first_target[last]; ++i) {
      const vertex_t t = graph_.targets[i];
      if (edges_to_[t] == 0) continue;
      ++targets_[best_[t]];
      edges_to_[t] = 0;
      if (best_[t] != 0) used_.push_back(t);
    }
    choose_grade();
    number_slots();
  }

  bool has(std::uint32_t list) const noexcept { return grades_[list - first_] >= least_; }
  // The targets of the dissolved lists, ascending; the slot of each is its index here.
  const std::vector<vertex_t>& slots() const noexcept { return used_; }
  // Precondition: a dissolved list has this target.
  std::uint32_t slot_of(vertex_t target) const noexcept { return edges_to_[target]; }
  // Call this before the next choose().
  void forget() {
    for (const vertex_t t : used_) edges_to_[t] = 0;
  }

 private:
  static constexpr std::uint8_t grades = 33;

  // The grade of a list is that of the target with the fewest edges.
  void grade(std::uint32_t list) {
    const edge_t begin = graph_.first_target[list];
    const edge_t end = graph_.first_target[list + std::size_t{1}];
    std::uint32_t fewest = UINT32_MAX;
    for (edge_t i = begin; i < end; ++i) fewest = (std::min)(fewest, edges_to_[graph_.targets[i]]);
    const auto made = static_cast<std::uint8_t>(std::bit_width(fewest));
    grades_[list - first_] = made;
    ++lists_[made];
    for (edge_t i = begin; i < end; ++i)
      best_[graph_.targets[i]] = (std::max)(best_[graph_.targets[i]], made);
  }

  void choose_grade() {
    least_ = grades;
    std::int64_t saved = 0, most = 0;
    for (std::uint8_t g = grades; g-- > 0;) {
      saved += lists_[g] - targets_[g];
      if (saved <= most) continue;
      most = saved;
      least_ = g;
    }
    // A few contents less are not worth the move.
    if (most < static_cast<std::int64_t>(grades_.size() / 16)) least_ = grades;
  }

  void number_slots() {
    std::sort(used_.begin(), used_.end());
    std::size_t kept = 0;
    for (const vertex_t t : used_) {
      if (best_[t] >= least_) {
        edges_to_[t] = static_cast<std::uint32_t>(kept);
        used_[kept++] = t;
      }
      best_[t] = 0;
    }
    used_.resize(kept);
  }

  const shard<Edge>& graph_;
  // By target: its edges from this sender; after choose() its slot.
  std::vector<std::uint32_t> edges_to_;
  // By target: the best grade of the lists that have it.
  std::vector<std::uint8_t> best_;
  // By list.
  std::vector<std::uint8_t> grades_;
  std::uint32_t first_ = 0;
  // Lists of this grade are dissolved, and those of a higher one.
  std::uint8_t least_ = grades;
  // By grade.
  std::int64_t lists_[grades], targets_[grades];
  std::vector<vertex_t> used_;
};

// One participant's part of the change. As a receiver it tells each sender, list by list, which of
// the sender's lists remain; as a sender it hears the same from each receiver.
template <class Endpoint, class Edge>
class shard_combiner {
 public:
  shard_combiner(Endpoint& me, shard<Edge>& mine, std::span<const std::uint32_t> first_lists)
      : me_(me),
        mine_(mine),
        first_lists_(first_lists.begin(), first_lists.end()),
        slots_(me.size()),
        told_(me.size()) {
    first_lists_.push_back(mine.lists());
  }

  void run() {
    made_.first_target.push_back(0);
    keep_or_dissolve();
    add_lists_of_slots();
    hear_the_rest();
    make_own_lists();
    mine_.first_target = std::move(made_.first_target);
    mine_.targets = std::move(made_.targets);
    mine_.values = std::move(made_.values);
    mine_.first_route = std::move(made_.first_route);
    mine_.routes = std::move(made_.routes);
    mine_.slots = std::move(made_.slots);
    mine_.first_combined = made_.first_combined;
    mine_.first_own = made_.first_own;
  }

 private:
  // Calls f(sender) for each other participant that has lists here.
  template <class F>
  void each_sender(F f) {
    for (rank_t p = 0; p < me_.size(); ++p)
      if (p != me_.rank() && first_lists_[p] != first_lists_[p + std::size_t{1}]) f(p);
  }
  void send(rank_t to, auto&& write) {
    const auto take = [this](const received& message_in) { append(message_in); };
    telling<Endpoint, decltype(take)> words(me_, to, take);
    write(words);
    words.flush();
  }
  void append(const received& message_in) { told_[message_in.source].append(message_in); }

  // A sender hears the number of its first list that remains, how many slots it needs, and for each
  // of its lists 0, or the number of targets, their slots, and the values of the edges to them.
  void keep_or_dissolve() {
    dissolved_lists<Edge> dissolved(mine_);
    each_sender([&](rank_t p) {
      dissolved.choose(first_lists_[p], first_lists_[p + std::size_t{1}]);
      send(p, [&](auto& words) {
        words.put(made_lists());
        words.put(static_cast<std::uint32_t>(dissolved.slots().size()));
        for (std::uint32_t list = first_lists_[p]; list < first_lists_[p + std::size_t{1}]; ++list)
          dissolved.has(list) ? tell_targets(words, list, dissolved) : keep(words, list);
      });
      slots_[p] = dissolved.slots();
      dissolved.forget();
    });
    made_.first_combined = made_lists();
  }
  void keep(auto& words, std::uint32_t list) {
    words.put(std::uint32_t{0});
    for (edge_t i = mine_.first_target[list]; i < mine_.first_target[list + std::size_t{1}]; ++i)
      add_target(mine_.targets[i], value_at(i));
    end_list();
  }
  void tell_targets(auto& words, std::uint32_t list, const dissolved_lists<Edge>& dissolved) {
    const edge_t begin = mine_.first_target[list];
    const edge_t end = mine_.first_target[list + std::size_t{1}];
    words.put(static_cast<std::uint32_t>(end - begin));
    for (edge_t i = begin; i < end; ++i) {
      words.put(dissolved.slot_of(mine_.targets[i]));
      if constexpr (shard<Edge>::has_values) words.put(mine_.values[i]);
    }
  }

  // And at last it hears the number of the list of its first slot.
  void add_lists_of_slots() {
    each_sender([&](rank_t p) {
      send(p, [&](auto& words) { words.put(made_lists()); });
      for (const vertex_t t : slots_[p]) {
        add_target(t, Edge{});
        end_list();
      }
      std::vector<vertex_t>().swap(slots_[p]);
    });
    made_.first_own = made_lists();
  }

  void hear_the_rest() {
    while (me_.idle(true) == idle_result::message) {
      const received message_in = me_.recv();
      append(message_in);
      me_.release(message_in);
    }
  }

  // A receiver, as its sender sees it.
  struct receiver {
    // The number of the next list that remains.
    std::uint32_t next_list = 0;
    // The first of its slots here, and their number.
    std::uint32_t first_slot = 0, slots = 0;
  };

  void make_own_lists() {
    std::vector<receiver> receivers(me_.size());
    std::uint32_t slots = 0;
    for (rank_t q = 0; q < me_.size(); ++q) {
      if (told_[q].empty()) continue;
      receivers[q].next_list = told_[q].get<std::uint32_t>();
      receivers[q].slots = told_[q].get<std::uint32_t>();
      receivers[q].first_slot = slots;
      slots += receivers[q].slots;
    }
    made_.first_route.push_back(0);
    for (std::size_t set = 0; set + 1 < mine_.first_route.size(); ++set)
      make_routes(set, receivers);
    made_.slots.reserve(slots);
    for (rank_t q = 0; q < me_.size(); ++q) {
      if (told_[q].empty()) continue;
      const auto first = told_[q].get<std::uint32_t>();
      for (std::uint32_t i = 0; i < receivers[q].slots; ++i) made_.slots.push_back({q, first + i});
    }
  }
  // The routes of a set lead to the receivers in the order of the sets.
  void make_routes(std::size_t set, std::vector<receiver>& receivers) {
    const edge_t begin = made_.targets.size();
    slots_of_set_.clear();
    for (edge_t r = mine_.first_route[set]; r < mine_.first_route[set + 1]; ++r) {
      const route& old = mine_.routes[r];
      if (old.to == me_.rank()) {
        for (edge_t i = mine_.first_target[old.list];
             i < mine_.first_target[old.list + std::size_t{1}]; ++i)
          add_target(mine_.targets[i], value_at(i));
        continue;
      }
      told& words = told_[old.to];
      receiver& there = receivers[old.to];
      auto targets = words.get<std::uint32_t>();
      if (targets == 0) made_.routes.push_back({old.to, there.next_list++});
      for (; targets > 0; --targets) {
        const auto slot = there.first_slot + words.get<std::uint32_t>();
        Edge value{};
        if constexpr (shard<Edge>::has_values) value = words.get<Edge>();
        slots_of_set_.push_back({slot, value});
      }
    }
    for (const auto& [slot, value] : slots_of_set_)
      add_target(static_cast<vertex_t>(mine_.vertices.size()) + slot, value);
    if (made_.targets.size() != begin) {
      made_.routes.push_back({me_.rank(), made_lists()});
      end_list();
    }
    made_.first_route.push_back(made_.routes.size());
  }

  std::uint32_t made_lists() const noexcept { return made_.lists(); }
  Edge value_at(edge_t i) const noexcept {
    if constexpr (shard<Edge>::has_values) return mine_.values[i];
    return {};
  }
  void add_target(vertex_t target, const Edge& value) {
    made_.targets.push_back(target);
    if constexpr (shard<Edge>::has_values) made_.values.push_back(value);
  }
  void end_list() { made_.first_target.push_back(made_.targets.size()); }

  Endpoint& me_;
  shard<Edge>& mine_;
  // By sender, and the end.
  std::vector<std::uint32_t> first_lists_;
  // By sender: the targets of its dissolved lists.
  std::vector<std::vector<vertex_t>> slots_;
  // By receiver: what it has told.
  std::vector<told> told_;
  shard<Edge> made_;
  std::vector<std::pair<std::uint32_t, Edge>> slots_of_set_;
};

// Changes the shard of the endpoint's participant, so that messages to the same vertex are combined
// where that makes fewer contents. All participants call this, before they run anything else; the
// shards were made with first lists.
template <class Endpoint, class Edge>
void combine_messages(Endpoint& me, shards<Edge>& cut, bool with_in_lists) {
  shard_combiner<Endpoint, Edge>(me, cut.of(me.rank()), cut.first_lists(me.rank())).run();
  if (with_in_lists) shards<Edge>::make_in_lists(cut.of(me.rank()));
}

}  // namespace tutti::graph::detail
