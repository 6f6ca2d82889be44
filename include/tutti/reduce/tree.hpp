// SPDX-License-Identifier: Apache-2.0
// Tree reduction: values travel up a fan-in tree and are combined on the way; then the result
// travels down. Two ranks use one cache line for both directions, as in team/fork_join.hpp, so each
// message costs one transfer. It is the reduction inside the recursive barrier of Berger and
// Stamatakis, with a wider fan.
//
// Cost       ceil(log_fan n) rounds up, each of up to fan-1 transfers that overlap, and as many
//            down. For few participants that is two transfers, whichever participant is last.
// When       many participants with a core each; few participants that do other work between two
//            reductions.
// When not   two participants that do nothing in between (pair.hpp takes one transfer); more
//            participants than cores (counted.hpp).
// Source     Berger and Stamatakis, section III.E; Mellor-Crummey and Scott 1991.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/fan_in.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot has the meaning that it has for exchange_reduction.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class tree_reduction {
 public:
  // `fan` must be a power of two; that is not checked.
  explicit tree_reduction(rank_t participants, rank_t fan = 8)
      : tree_(participants, fan), nodes_(participants), wait_(participants) {}

  // Does what exchange_reduction::all does.
  template <class T, class Combine, class Deadline = no_deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline = {}) {
    const std::uint32_t episode = ++nodes_[rank].local.episode;
    T sum = mine;
    const rank_t rounds = tree_.rounds_collected(rank);
    for (rank_t round = 0; round < rounds; ++round)
      if (!collect(rank, round, episode, combine, sum, deadline)) return false;
    if (rank != 0 && !report(rank, episode, sum, deadline)) return false;
    release_children(rank, episode, sum);
    result = sum;
    return true;
  }

  // Synchronises without values.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    struct nothing {};
    nothing none;
    return all(
        rank, none, [](nothing a, nothing) { return a; }, none, deadline);
  }

  rank_t participants() const noexcept { return tree_.participants(); }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  struct alignas(cache_line) line {
    // arrived(episode) or released(episode).
    typename Memory::template atomic<std::uint32_t> word{0};
    typename Memory::template plain<Slot> value{};
  };
  struct node {
    participant<Wait> local;
    // The line between this rank and its parent.
    line up;
  };

  // The values of a line's word. They wrap around.
  static constexpr std::uint32_t arrived(std::uint32_t episode) noexcept { return 2 * episode - 1; }
  static constexpr std::uint32_t released(std::uint32_t episode) noexcept { return 2 * episode; }

  template <class T, class Combine, class Deadline>
  bool collect(rank_t rank, rank_t round, std::uint32_t episode, Combine& combine, T& sum,
               Deadline deadline) {
    const rank_t children = tree_.children(round, rank);
    for (rank_t i = 0; i < children; ++i)
      // acquire: pairs with the child's arrival.
      if (!wait_.until(nodes_[rank].local.collecting, nodes_[tree_.child(round, rank, i)].up.word,
                       Memory::order("tree.collect", acquire), reached(arrived(episode)), deadline))
        return false;
    sum = schedule::fold(
        0, children + 1,
        [&](rank_t i) {
          return i == 0 ? sum : static_cast<T>(nodes_[tree_.child(round, rank, i - 1)].up.value);
        },
        combine);
    return true;
  }

  // Reports `sum` to the parent and receives the result in it.
  template <class T, class Deadline>
  bool report(rank_t rank, std::uint32_t episode, T& sum, Deadline deadline) {
    node& me = nodes_[rank];
    me.up.value = sum;
    // release: publishes the value and the work of my subtree; pairs with the parent's collect.
    me.up.word.store(arrived(episode), Memory::order("tree.arrive", release));
    wait_.notify(me.up.word);
    // acquire: pairs with the parent's release.
    if (!wait_.until(me.local.wait_state, me.up.word, Memory::order("tree.wait", acquire),
                     reached(released(episode)), deadline))
      return false;
    sum = static_cast<T>(me.up.value);
    return true;
  }

  template <class T>
  void release_children(rank_t rank, std::uint32_t episode, const T& result) {
    for_each_child(rank, [&](line& child) {
      child.value = result;
      // release: publishes the result and the work of all, which I acquired; pairs with the child's
      // wait.
      child.word.store(released(episode), Memory::order("tree.release", release));
    });
    // Notifications come last, because each waits until the stores before it are visible.
    for_each_child(rank, [&](line& child) { wait_.notify(child.word); });
  }

  // Visits the children with the largest subtrees first.
  template <class Visit>
  void for_each_child(rank_t rank, Visit visit) {
    for (rank_t round = tree_.rounds_collected(rank); round > 0; --round) {
      const rank_t children = tree_.children(round - 1, rank);
      for (rank_t i = 0; i < children; ++i) visit(nodes_[tree_.child(round - 1, rank, i)].up);
    }
  }

  schedule::fan_in tree_;
  array<node> nodes_;
  Wait wait_;
};

}  // namespace tutti
