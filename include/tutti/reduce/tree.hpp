// SPDX-License-Identifier: Apache-2.0
// Tree: values travel up a fan-in tree on the lines that carry the arrivals, are combined on the way, and the result
// comes down on the line of the release. The reduction inside the recursive barrier of paper 002, with a wider fan.
//
// Cost       ceil(log_fan n) rounds up, each of up to fan-1 transfers that overlap, and one line to all.
// When       many participants with a core each.
// When not   few participants: exchange.hpp needs one transfer; more participants than cores: counted.hpp.
// Source     paper 002, section III.E; Mellor-Crummey and Scott 1991.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/fan_in.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti {

// Slot as for exchange_reduction.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class tree_reduction {
 public:
  // `fan` is a power of two.
  explicit tree_reduction(rank_t participants, rank_t fan = 8)
      : tree_(participants, fan), nodes_(participants), wait_(participants) {}

  // As exchange_reduction::all.
  template <class T, class Combine, class Deadline = no_deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline = {}) {
    node& me = nodes_[rank];
    const std::uint32_t episode = ++me.local.episode;
    T sum = mine;
    const rank_t rounds = tree_.rounds_collected(rank);
    for (rank_t round = 0; round < rounds; ++round)
      if (!collect(rank, round, episode, combine, sum, deadline)) return false;
    if (rank == 0) {
      down_.value = sum;
      // release: publishes the result and everybody's work, acquired on the way up; pairs with the wait for it.
      down_.sent.store(episode, Memory::order("tree.release", release));
      wait_.notify(down_.sent);
      result = sum;
      return true;
    }
    me.up.value = sum;
    // release: publishes the value and the work of my subtree; pairs with the collector's look.
    me.up.sent.store(episode, Memory::order("tree.arrive", release));
    wait_.notify(me.up.sent);
    // acquire: pairs with the release.
    if (!wait_.until(me.local.seat, down_.sent, Memory::order("tree.wait", acquire),
                     reached(episode), deadline))
      return false;
    result = static_cast<T>(down_.value);
    return true;
  }

  rank_t participants() const noexcept { return tree_.participants(); }

 private:
  struct alignas(cache_line) line {
    typename Memory::template atomic<std::uint32_t> sent{0};
    typename Memory::template plain<Slot> value{};
  };
  struct node {
    participant<Wait> local;
    line up;
  };

  template <class T, class Combine, class Deadline>
  bool collect(rank_t rank, rank_t round, std::uint32_t episode, Combine& combine, T& sum,
               Deadline deadline) {
    const rank_t children = tree_.children(round, rank);
    for (rank_t i = 0; i < children; ++i)
      // acquire: pairs with the child's arrival.
      if (!wait_.until(nodes_[rank].local.seat, nodes_[tree_.child(round, rank, i)].up.sent,
                       Memory::order("tree.collect", acquire), reached(episode), deadline))
        return false;
    const auto value_of = [&](rank_t i) {
      return i == 0 ? sum : static_cast<T>(nodes_[tree_.child(round, rank, i - 1)].up.value);
    };
    sum = schedule::fold(0, children + 1, value_of, combine);
    return true;
  }

  schedule::fan_in tree_;
  array<node> nodes_;
  line down_;
  Wait wait_;
};

}  // namespace tutti
