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
#include "tutti/reduce/any_reduction.hpp"
#include "tutti/reduce/raw_value.hpp"
#include "tutti/schedule/choose.hpp"
#include "tutti/team/named_barriers.hpp"

namespace tutti::detail {

// A barrier that the program names, or the one that tutti chooses.
template <class Memory>
class team_barrier {
 public:
  team_barrier(rank_t participants, bool crowded, std::string_view algorithm, std::string_view wait,
               patience p) {
    if (!algorithm.empty())
      named_ = named_barriers<Memory>::make(algorithm, participants, wait, p);
    else if (choose::barrier(participants, crowded && Memory::cpus() < choose::many_cpus) ==
             "striped")
      striped_.emplace(participants);
    else
      ticket_.emplace(participants);
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
    // With a named barrier reductions use the slots.
    if (!barrier.empty() || participants == 1) return;
    const std::string_view for_small = choose::reduction(participants, crowded, true, apart);
    const std::string_view for_large = choose::reduction(participants, crowded, false, apart);
    if (for_small != for_large) small_.emplace(for_small, participants);
    large_.emplace(for_large, participants);
    if (apart) tree_ = large_.template get_if<tree_reduction>();
    exchange_ = large_.template get_if<exchange_reduction>();
    set_patience(p);
  }

  // Sets the patience of all waits that begin later. Returns false if there is a named barrier with
  // a wait policy that has no patience.
  bool set_patience(patience p) noexcept {
    small_.set_patience(p);
    large_.set_patience(p);
    return barrier_.set_patience(p);
  }

  // All of these return false if the region is cancelled.
  bool meet(rank_t rank) {
    return tree_ != nullptr ? tree_->arrive_and_wait(rank, until_)
                            : barrier_.arrive_and_wait(rank, until_);
  }

  template <class T, class Combine>
  bool all(rank_t rank, const T& mine, Combine combine, T& result) {
    if constexpr (small_value::fits<T>)
      if (small_) return small_.all(rank, mine, combine, result, until_);
    if (large_) return large_.all(rank, mine, combine, result, until_);
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
  // The reductions of values that fit a small_value, if there is a better one for these, and of all
  // values.
  any_reduction<small_value, Memory> small_;
  any_reduction<line_value, Memory> large_;
  // large_, if it is one of these: the tree only if participants do other work in between.
  tree_reduction<line_value, Memory>* tree_ = nullptr;
  exchange_reduction<line_value, Memory>* exchange_ = nullptr;
};

}  // namespace tutti::detail
