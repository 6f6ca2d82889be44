// SPDX-License-Identifier: Apache-2.0
// tutti::reduction: barrier and reduction in one, for threads that a program has already. A team's ranks have
// member::reduce instead.
//
//   tutti::reduction<double> total(threads);                         // tutti::plus
//   const double sum = total.all(rank, mine);                        // everybody gets the same bits
//   tutti::reduction<std::array<double, 2>, tutti::maximum> peaks(threads);
//
// Order: values are combined as in a tournament of the ranks, ((0 + 1) + (2 + 3)) + ..., by whichever algorithm; a NaN in
// the result is the default one. So the same values of the same number of participants give the same bits. For bits that
// do not depend on the number of participants, reduce tutti::exact_sum (exact.hpp).
//
// Which algorithm: two participants share a line (pair.hpp); up to eight exchange lines (exchange.hpp), more use a tree
// (tree.hpp); more participants than CPUs count themselves (counted.hpp).
//
// Memory ordering: what any participant does before the call happens before what any does after it returns.
// Destruction: when every participant has returned from its last call.
// Hosted only: std::chrono, std::optional and exceptions.
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

// T is trivially copyable; Op is associative up to rounding and does not throw.
template <class T, class Op = plus, class Memory = native, class Wait = adaptive_wait<Memory>>
class reduction {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Throws std::invalid_argument for 0 participants, or a pair of more or less than two.
  explicit reduction(rank_t participants, Op op = {},
                     reduction_algorithm algorithm = reduction_algorithm::tuttis_choice,
                     patience p = {})
      : op_(std::move(op)), n_(participants), arrivals_(participants) {
    require(participants > 0, "a reduction needs at least one participant");
    make(algorithm == reduction_algorithm::tuttis_choice ? choice() : algorithm);
    if (!p.is_open()) set_patience(p);
  }

  // From the next wait on; at any time, by any thread.
  bool set_patience(patience p) noexcept {
    if (pair_) return pair_->set_patience(p);
    if (exchange_) return exchange_->set_patience(p);
    if (tree_) return tree_->set_patience(p);
    return counted_->set_patience(p);
  }

  // As `rank`, 0 .. participants()-1, each used by one thread at a time. Not checked.
  T all(rank_t rank, const T& mine) {
    T result{};
    static_cast<void>(meet(rank, mine, result, no_deadline{}));
    return canonical(result);
  }

  // The same, but gives up after `timeout`: then nothing is returned, missing_ranks() says who had not come, and the
  // object must not be used again.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<T> all_for(rank_t rank, const T& mine,
                                         std::chrono::duration<Rep, Period> timeout) {
    T result{};
    if (!meet(rank, mine, result, deadline_after<Memory>(timeout))) return std::nullopt;
    return canonical(result);
  }

  // Ranks that have arrived less often than `rank`; a snapshot.
  std::vector<rank_t> missing_ranks(rank_t rank) const {
    std::vector<rank_t> missing;
    const std::uint32_t mine = arrivals_[rank].value.load(relaxed);  // relaxed: a snapshot
    for (rank_t r = 0; r < n_; ++r)
      // relaxed: as above.
      if (static_cast<std::int32_t>(arrivals_[r].value.load(relaxed) - mine) < 0)
        missing.push_back(r);
    return missing;
  }

  rank_t participants() const noexcept { return n_; }

 private:
  reduction_algorithm choice() const {
    constexpr rank_t few = 8;
    if (n_ == 2) return reduction_algorithm::pair;
    if (n_ > platform::usable_cpus()) return reduction_algorithm::counted;
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
    // relaxed: my own word, read by others for messages only.
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
