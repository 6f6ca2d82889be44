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
// (counted.hpp). schedule/choose.hpp has the numbers, and list.hpp all reductions. The program can
// name another one, or a barrier of the registry or of a provider, after which the participants
// read all values (after_barrier.hpp):
//
//   tutti::reduction<double> total(threads, {}, "tree");
//
// Memory ordering: what any participant does before the call happens before what any participant
// does after it returns.
// Thread-safety: participants call at the same time; one thread at a time may use a rank.
// Destruction: all participants must have returned from their last call.
// Hosted only: it needs std::chrono, std::optional and exceptions.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/barrier/auto_rank.hpp"
#include "tutti/barrier/timed.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/owned.hpp"
#include "tutti/platform/usable_cpus.hpp"
#include "tutti/reduce/after_barrier.hpp"
#include "tutti/reduce/any_reduction.hpp"
#include "tutti/reduce/operations.hpp"
#include "tutti/schedule/choose.hpp"

namespace tutti {

// The name of a reduction of the list, or of a barrier. Only a program that writes a text here
// needs the compiled library, because only the conversion of a text refers to it.
class reduction_algorithm {
 public:
  static const reduction_algorithm tuttis_choice, pair, exchange, tree, counted;

  template <class Text>
  requires std::convertible_to<const Text&, std::string_view>
  constexpr reduction_algorithm(const Text& name) : name_(name), barrier_(name) {}

  constexpr std::string_view name() const noexcept { return name_; }
  // The same name as that of a barrier, or no name.
  constexpr const algorithm_name& barrier() const noexcept { return barrier_; }
  friend constexpr bool operator==(const reduction_algorithm& a,
                                   const reduction_algorithm& b) noexcept {
    return a.name_ == b.name_;
  }

 private:
  struct of_the_list {
    std::string_view name;
  };
  constexpr explicit reduction_algorithm(of_the_list known) noexcept : name_(known.name) {}

  std::string_view name_;
  algorithm_name barrier_;
};
inline constexpr reduction_algorithm reduction_algorithm::tuttis_choice{of_the_list{""}};
inline constexpr reduction_algorithm reduction_algorithm::pair{of_the_list{"pair"}};
inline constexpr reduction_algorithm reduction_algorithm::exchange{of_the_list{"exchange"}};
inline constexpr reduction_algorithm reduction_algorithm::tree{of_the_list{"tree"}};
inline constexpr reduction_algorithm reduction_algorithm::counted{of_the_list{"counted"}};

// T must be trivially copyable. Op must be associative up to rounding and must not throw.
// Calls from sources with checks report misuse (platform/misuse.hpp): a rank out of range, and two
// threads that use one rank at the same time.
template <class T, class Op = plus, class Memory = native, class Wait = adaptive_wait<Memory>>
class reduction {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "tutti::reduction<T>: T must be trivially copyable, because its bytes travel between "
      "cores: a number, std::complex, std::array of these, or a struct of such members. "
      "std::string and std::vector are not.");
  static_assert(std::is_default_constructible_v<T>,
                "tutti::reduction<T>: T needs a default constructor for the result that it fills.");
  using site = call_site;

 public:
  // Throws std::invalid_argument for 0 participants, for the algorithm `pair` unless there are two
  // participants, and for an unknown name.
  explicit reduction(rank_t participants, Op op = {},
                     reduction_algorithm algorithm = reduction_algorithm::tuttis_choice,
                     patience p = {})
      : op_(std::move(op)), n_(participants), records_(participants) {
    require(participants > 0, "a reduction needs at least one participant");
    make(algorithm, p);
    if (!p.is_open()) set_patience(p);
  }

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept {
    return named_ ? named_->set_patience(p) : reduction_.set_patience(p);
  }

  // Arrives as `rank`, 0 .. participants()-1, and returns the combined values of all.
  T all(rank_t rank, const T& mine, site where = site::here()) {
    const visit guard(*this, rank, where);
    T result{};
    static_cast<void>(meet(rank, mine, result, no_deadline{}));
    return canonical(result);
  }

  // Does the same, but gives up after `timeout`. It then returns std::nullopt, missing_ranks()
  // tells which ranks had not arrived, and the object must not be used again.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<T> all_for(rank_t rank, const T& mine,
                                         std::chrono::duration<Rep, Period> timeout,
                                         site where = site::here()) {
    const visit guard(*this, rank, where);
    T result{};
    if (!meet(rank, mine, result, deadline_after<Memory>(timeout))) return std::nullopt;
    return canonical(result);
  }

  // Returns the ranks that have arrived less often than `rank`: a snapshot. Any thread may call it
  // at any time.
  std::vector<rank_t> missing_ranks(rank_t rank) const {
    std::vector<rank_t> missing;
    // relaxed: a snapshot.
    const std::uint32_t mine = records_[rank].value.arrivals.load(relaxed);
    for (rank_t r = 0; r < n_; ++r)
      // relaxed: a snapshot.
      if (static_cast<std::int32_t>(records_[r].value.arrivals.load(relaxed) - mine) < 0)
        missing.push_back(r);
    return missing;
  }

  rank_t participants() const noexcept { return n_; }

 private:
  struct record {
    // The number of calls, modulo 2^32.
    typename Memory::template atomic<std::uint32_t> arrivals{0};
    // Whether a call from a source with checks uses the rank.
    typename Memory::template atomic<bool> is_in_use{false};
  };

  // Marks the rank as in use, for a call from a source with checks.
  class visit {
   public:
    visit(reduction& r, rank_t rank, site where) {
      if (where.checks() && r.check_rank(rank, where)) used_ = r.use(rank, where);
    }
    ~visit() {
      // relaxed: for the message only.
      if (used_ != nullptr) used_->is_in_use.store(false, relaxed);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    record* used_ = nullptr;
  };

  bool check_rank(rank_t rank, site where) const {
    if (rank < n_) return true;
    on_misuse("rank " + std::to_string(rank) + " is out of range for a reduction of " +
                  std::to_string(n_) + " participants (ranks 0 to " + std::to_string(n_ - 1) + ")",
              where.at());
    return false;
  }
  record* use(rank_t rank, site where) {
    record& mine = records_[rank].value;
    // relaxed: for the message only.
    if (mine.is_in_use.exchange(true, relaxed))
      on_misuse("two threads use rank " + std::to_string(rank) + " of a reduction at the same time",
                where.at());
    return &mine;
  }

  // Participants pass a named barrier and then read the values of all.
  class by_name {
   public:
    by_name(const reduction_algorithm& algorithm, rank_t participants, patience p)
        : slots_(*this, participants) {
      barrier_.take(algorithm.barrier().make(participants, "adaptive", p));
    }
    bool set_patience(patience p) noexcept { return barrier_->barrier().set_patience(p); }

    bool all(rank_t rank, const T& mine, const auto& op, T& result, auto until) {
      return slots_.all(rank, mine, op, result, until);
    }
    bool arrive_and_wait(rank_t rank, no_deadline) {
      barrier_->barrier().arrive_and_wait(rank);
      return true;
    }
    bool arrive_and_wait(rank_t rank, auto until) {
      return barrier_->barrier().arrive_and_wait(rank, deadline(until.ns()));
    }

   private:
    owned<auto_rank> barrier_;
    after_barrier_reduction<T, by_name, Memory> slots_;
  };

  void make(const reduction_algorithm& algorithm, patience p) {
    std::string_view name = algorithm.name();
    if (name.empty()) name = choose::reduction(n_, choose::is_crowded(n_, Memory::cpus()), true);
    if (reduction_.emplace(name, n_)) return;
    if (algorithm.barrier().empty()) refuse("there is no reduction '" + std::string(name) + "'");
    named_.emplace(algorithm, n_, p);
  }

  template <class Deadline>
  bool meet(rank_t rank, const T& mine, T& result, Deadline until) {
    auto& mine_arrived = records_[rank].value.arrivals;
    // relaxed: only this rank writes it, and others read it for messages only.
    mine_arrived.store(mine_arrived.load(relaxed) + 1, relaxed);
    if (named_) [[unlikely]]
      return named_->all(rank, mine, detail::usable<T>(op_), result, until);
    return reduction_.all(rank, mine, detail::usable<T>(op_), result, until);
  }

  Op op_;
  rank_t n_;
  array<padded<record>> records_;
  any_reduction<T, Memory, Wait> reduction_;
  std::optional<by_name> named_;
};

}  // namespace tutti
