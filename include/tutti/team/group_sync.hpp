// SPDX-License-Identifier: Apache-2.0
// The collective operations of a team's threads inside a region: barrier, reduction and gathering
// of values, each by the algorithm that suits the number of threads. Every wait ends early if a
// rank of the region has failed.
// Hosted only: it makes barriers by name.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "tutti/barrier/any.hpp"
#include "tutti/barrier/striped.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/reduce/after_barrier.hpp"
#include "tutti/reduce/counted.hpp"
#include "tutti/reduce/exchange.hpp"
#include "tutti/reduce/pair.hpp"
#include "tutti/reduce/raw_value.hpp"
#include "tutti/reduce/tree.hpp"
#include "tutti/team/named_barriers.hpp"

namespace tutti::detail {

// A barrier that the program names, or the one that tutti chooses.
template <class Memory>
class team_barrier {
 public:
  team_barrier(rank_t participants, bool crowded, std::string_view algorithm, std::string_view wait,
               patience p) {
    // The same number as in barrier_options.
    constexpr rank_t few = 5;
    if (!algorithm.empty())
      named_ = named_barriers<Memory>::make(algorithm, participants, wait, p);
    else if (participants <= few || crowded)
      ticket_.emplace(participants);
    else
      striped_.emplace(participants);
    if (!named_) set_patience(p);
  }

  bool set_patience(patience p) noexcept {
    if (ticket_) return ticket_->set_patience(p);
    if (striped_) return striped_->set_patience(p);
    return named_->set_patience(p);
  }

  bool arrive_and_wait(rank_t rank, basic_deadline<Memory> until) {
    if (ticket_) return ticket_->arrive_and_wait(rank, until);
    if (striped_) return striped_->arrive_and_wait(rank, until);
    if constexpr (named_barriers<Memory>::exist)
      return named_->arrive_and_wait(rank, until);
    else
      return false;
  }

 private:
  std::optional<ticket_barrier<Memory>> ticket_;
  std::optional<striped_barrier<Memory>> striped_;
  std::unique_ptr<any_barrier> named_;
};

template <class Memory>
class group_sync {
 public:
  // `crowded` tells that there are more participants than cores. `apart` tells that participants do
  // other work between two operations, such as switching between virtual ranks, so that they do not
  // arrive one right after the other.
  group_sync(rank_t participants, bool crowded, bool apart, std::string_view barrier,
             std::string_view wait, patience p, const basic_cancellation<Memory>& cancelled)
      : until_(cancelled),
        barrier_(participants, crowded, barrier, wait, p),
        slots_(barrier_, participants) {
    constexpr rank_t few = 8;
    // With a named barrier reductions use the slots.
    if (!barrier.empty() || participants == 1) return;
    if (participants == 2 && !apart) pair_.emplace(participants);
    if (crowded)
      counted_.emplace(participants);
    else if (apart || participants > few)
      tree_.emplace(participants);
    else
      exchange_.emplace(participants);
    meets_in_tree_ = apart && tree_;
    set_patience(p);
  }

  // Sets the patience of all waits that begin later. Returns false if there is a named barrier with
  // a wait policy that has no patience.
  bool set_patience(patience p) noexcept {
    if (pair_) pair_->set_patience(p);
    if (exchange_) exchange_->set_patience(p);
    if (tree_) tree_->set_patience(p);
    if (counted_) counted_->set_patience(p);
    return barrier_.set_patience(p);
  }

  // All of these return false if the region is cancelled.
  bool meet(rank_t rank) {
    return meets_in_tree_ ? tree_->arrive_and_wait(rank, until_)
                          : barrier_.arrive_and_wait(rank, until_);
  }

  template <class T, class Combine>
  bool all(rank_t rank, const T& mine, Combine combine, T& result) {
    if constexpr (small_value::fits<T>)
      if (pair_) return pair_->all(rank, mine, combine, result, until_);
    if (exchange_) return exchange_->all(rank, mine, combine, result, until_);
    if (tree_) return tree_->all(rank, mine, combine, result, until_);
    if (counted_) return counted_->all(rank, mine, combine, result, until_);
    return slots_.all(rank, mine, combine, result, until_);
  }

  template <class T, class Read>
  bool gather(rank_t rank, const T& mine, Read read) {
    if (exchange_) return exchange_->gather(rank, mine, read, until_);
    return slots_.gather(rank, mine, read, until_);
  }

 private:
  // Three values and a count share a cache line.
  using small_value = raw_value<16>;

  basic_deadline<Memory> until_;
  team_barrier<Memory> barrier_;
  after_barrier_reduction<line_value, team_barrier<Memory>, Memory> slots_;
  std::optional<pair_reduction<small_value, Memory>> pair_;
  std::optional<exchange_reduction<line_value, Memory>> exchange_;
  std::optional<tree_reduction<line_value, Memory>> tree_;
  std::optional<counted_reduction<line_value, Memory>> counted_;
  bool meets_in_tree_ = false;
};

}  // namespace tutti::detail
