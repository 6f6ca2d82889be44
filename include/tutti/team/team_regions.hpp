// SPDX-License-Identifier: Apache-2.0
// How a team opens and ends its regions: by the messages of fork_join.hpp, or by a barrier that the
// options name. Both have the same functions; team_regions calls the one that the team has.
// Hosted only: it needs the compiled library.
#pragma once

#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "tutti/reduce/fold.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/team/compact_values.hpp"
#include "tutti/team/fork_join.hpp"
#include "tutti/team/leakable.hpp"
#include "tutti/team/region.hpp"

namespace tutti::detail {

// The number of doubles in a T, or 0 if T is something else or more than fold_rows takes.
template <class T>
inline constexpr std::size_t doubles_in = std::is_same_v<T, double> ? 1 : 0;
template <std::size_t N>
inline constexpr std::size_t doubles_in<std::array<double, N>> = N <= fold_rows_widest ? N : 0;

// Regions that a named barrier ends. All threads take part in each.
template <class Job>
class named_regions {
 public:
  // `vector_sums`: see team_options.
  named_regions(std::unique_ptr<any_region> region, rank_t threads, bool vector_sums)
      : region_(std::move(region)),
        contributions_(threads),
        threads_(threads),
        vector_sums_(vector_sums) {}

  bool set_patience(patience p) noexcept { return region_->set_patience(p); }

  // ---- thread 0

  void open(const Job& job) {
    job_ = job;
    region_->open();
  }
  void close() { region_->close(0); }
  // Returns the contributions of all threads, combined.
  template <class T, class Op>
  [[gnu::noinline]] T close(const T& mine, const Op& op) {
    contributions_.put(0, mine);
    region_->close(0);
    return fold_of_all<T>(op);
  }

  // ---- the workers

  void await(rank_t thread, Job& job) {
    region_->await(thread);
    job = job_;
  }
  void arrive(rank_t thread) { region_->close(thread); }
  template <class T>
  void arrive(rank_t thread, const T& mine) {
    contributions_.put(thread, mine);
    region_->close(thread);
  }

 private:
  template <class T, class Op>
  T fold_of_all(const Op& op) const {
    if constexpr (std::is_same_v<Op, plus> && doubles_in < T >> 0) {
      constexpr std::size_t width = doubles_in<T>;
      if (vector_sums_) {
        std::array<double, width> sums;
        fold_row_array(contributions_.template as<double>(), threads_, width, width, sums.data());
        return __builtin_bit_cast(T, sums);
      }
    }
    return schedule::fold(0, threads_, contributions_.template get<T>(), op);
  }

  std::unique_ptr<any_region> region_;
  // The job of the open region, which the region publishes.
  Job job_;
  compact_values contributions_;
  const rank_t threads_;
  const bool vector_sums_;
};

template <class Memory, class Job>
class team_regions {
  using messages = fork_join<Job, line_value, Memory>;

 public:
  // Must be called once, before anything else.
  void use_messages(rank_t threads, bool crowded, rank_t fan) {
    by_messages_.emplace(threads, crowded, fan);
  }
  void use_name(std::unique_ptr<any_region> region, rank_t threads, bool vector_sums) {
    by_name_.emplace(std::move(region), threads, vector_sums);
  }

  // Neither is destroyed (leakable.hpp).
  void leave() noexcept {
    by_messages_.leave();
    by_name_.leave();
  }
  // In a process that has only one of the threads: close() will not wait for the others.
  void forget_others() noexcept {
    if (!are_named()) by_messages_->forget_others();
  }

  bool are_named() const noexcept { return static_cast<bool>(by_name_); }
  // What only fork_join can do: loops, deadlines, and telling who has finished. The regions must
  // not be named.
  messages* operator->() noexcept { return &*by_messages_; }
  const messages* operator->() const noexcept { return &*by_messages_; }

  bool set_patience(patience p) noexcept {
    return are_named() ? by_name_->set_patience(p) : by_messages_->set_patience(p);
  }

  void open(const Job& job) {
    if (!are_named()) [[likely]]
      return by_messages_->open(job);
    by_name_->open(job);
  }
  // Opens a region for the first k threads; the others receive no message unless it is named.
  void open(const Job& job, rank_t k) {
    if (!are_named()) return by_messages_->open(job, k);
    by_name_->open(job);
  }
  void close() {
    if (!are_named()) [[likely]]
      static_cast<void>(by_messages_->close());
    else
      by_name_->close();
  }
  void close_first(rank_t k) {
    if (!are_named())
      static_cast<void>(by_messages_->close_first(k));
    else
      by_name_->close();
  }
  template <class T, class Op>
  T close(const T& mine, const Op& op) {
    if (!are_named()) [[likely]]
      return by_messages_->close(mine, op);
    return by_name_->close(mine, op);
  }

  // Returns false for a loop, as fork_join does.
  bool await(rank_t thread, Job& job) {
    if (!are_named()) return by_messages_->await(thread, job);
    by_name_->await(thread, job);
    return true;
  }
  void arrive(rank_t thread) {
    if (!are_named()) [[likely]]
      return by_messages_->arrive(thread);
    by_name_->arrive(thread);
  }
  template <class T, class Op>
  void arrive(rank_t thread, const T& mine, const Op& op) {
    if (!are_named()) [[likely]]
      return by_messages_->arrive(thread, mine, op);
    by_name_->arrive(thread, mine);
  }

 private:
  leakable<messages> by_messages_;
  leakable<named_regions<Job>> by_name_;
};

}  // namespace tutti::detail
