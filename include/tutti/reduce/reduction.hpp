// SPDX-License-Identifier: Apache-2.0
// tutti::reduction: barrier and reduction in one, for threads that a program already has. The ranks
// of a team use member::reduce instead.
//
//   tutti::reduction<double> total(threads);                         // with tutti::plus
//   const double sum = total.all(rank, mine);                        // the same bits for all ranks
//   tutti::reduction<std::array<double, 2>, tutti::maximum> peaks(threads);
//
// Order: every algorithm combines the values in the order of a tournament of the ranks, ((0 + 1) +
// (2 + 3)) + ..., and a NaN in the result is the default quiet NaN. So the same values of the same
// number of participants give the same bits. For bits that do not depend on the number of
// participants, reduce tutti::exact_sum (exact.hpp).
//
// Algorithm: two participants share a cache line (pair.hpp). Up to eight exchange lines
// (exchange.hpp), and more use a tree (tree.hpp). More participants than CPUs use a counter
// (counted.hpp).
//
// Memory ordering: what any participant does before the call happens before what any participant
// does after it returns.
// Thread-safety: participants call at the same time; one thread at a time may use a rank.
// Destruction: all participants must have returned from their last call.
// Hosted only: it needs std::chrono, std::optional and exceptions.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/timed.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/reduce/counted.hpp"
#include "tutti/reduce/exchange.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/reduce/pair.hpp"
#include "tutti/reduce/tree.hpp"

namespace tutti {

enum class reduction_algorithm { tuttis_choice, pair, exchange, tree, counted };

// T must be trivially copyable. Op must be associative up to rounding and must not throw.
template <class T, class Op = plus, class Memory = native, class Wait = adaptive_wait<Memory>>
class reduction {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Throws std::invalid_argument for 0 participants, and for the algorithm `pair` unless there are
  // two participants.
  explicit reduction(rank_t participants, Op op = {},
                     reduction_algorithm algorithm = reduction_algorithm::tuttis_choice,
                     patience p = {})
      : op_(std::move(op)), n_(participants), arrivals_(participants) {
    require(participants > 0, "a reduction needs at least one participant");
    make(algorithm == reduction_algorithm::tuttis_choice ? choice() : algorithm);
    if (!p.is_open()) set_patience(p);
  }

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept {
    if (pair_) return pair_->set_patience(p);
    if (exchange_) return exchange_->set_patience(p);
    if (tree_) return tree_->set_patience(p);
    return counted_->set_patience(p);
  }

  // Arrives as `rank`, 0 .. participants()-1, and returns the combined values of all. The rank is
  // not checked.
  T all(rank_t rank, const T& mine) {
    T result{};
    static_cast<void>(meet(rank, mine, result, no_deadline{}));
    return canonical(result);
  }

  // Does the same, but gives up after `timeout`. It then returns std::nullopt, missing_ranks()
  // tells which ranks had not arrived, and the object must not be used again.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<T> all_for(rank_t rank, const T& mine,
                                         std::chrono::duration<Rep, Period> timeout) {
    T result{};
    if (!meet(rank, mine, result, deadline_after<Memory>(timeout))) return std::nullopt;
    return canonical(result);
  }

  // Returns the ranks that have arrived less often than `rank`: a snapshot. Any thread may call it
  // at any time.
  std::vector<rank_t> missing_ranks(rank_t rank) const {
    std::vector<rank_t> missing;
    // relaxed: a snapshot.
    const std::uint32_t mine = arrivals_[rank].value.load(relaxed);
    for (rank_t r = 0; r < n_; ++r)
      // relaxed: a snapshot.
      if (static_cast<std::int32_t>(arrivals_[r].value.load(relaxed) - mine) < 0)
        missing.push_back(r);
    return missing;
  }

  rank_t participants() const noexcept { return n_; }

 private:
  reduction_algorithm choice() const {
    constexpr rank_t few = 8;
    if (n_ == 2) return reduction_algorithm::pair;
    if (n_ > Memory::cpus()) return reduction_algorithm::counted;
    return n_ <= few ? reduction_algorithm::exchange : reduction_algorithm::tree;
  }

  void make(reduction_algorithm algorithm) {
    switch (algorithm) {
      case reduction_algorithm::pair: pair_.emplace(n_); break;
      case reduction_algorithm::exchange: exchange_.emplace(n_); break;
      case reduction_algorithm::tree: tree_.emplace(n_); break;
      default: counted_.emplace(n_);
    }
  }

  template <class Deadline>
  bool meet(rank_t rank, const T& mine, T& result, Deadline until) {
    atomic_count& mine_arrived = arrivals_[rank].value;
    // relaxed: only this rank writes it, and others read it for messages only.
    mine_arrived.store(mine_arrived.load(relaxed) + 1, relaxed);
    if (pair_) return pair_->all(rank, mine, op_, result, until);
    if (exchange_) return exchange_->all(rank, mine, op_, result, until);
    if (tree_) return tree_->all(rank, mine, op_, result, until);
    return counted_->all(rank, mine, op_, result, until);
  }

  using atomic_count = typename Memory::template atomic<std::uint32_t>;

  Op op_;
  rank_t n_;
  array<padded<atomic_count>> arrivals_;
  std::optional<pair_reduction<T, Memory, Wait>> pair_;
  std::optional<exchange_reduction<T, Memory, Wait>> exchange_;
  std::optional<tree_reduction<T, Memory, Wait>> tree_;
  std::optional<counted_reduction<T, Memory, Wait>> counted_;
};

}  // namespace tutti
