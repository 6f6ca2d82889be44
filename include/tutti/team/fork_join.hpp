// SPDX-License-Identifier: Apache-2.0
// A parallel region's two meetings: the master opens it with one word that all workers poll, and the workers' arrivals
// end it for the master. Nobody releases the workers again: they wait for the next region's word, so that a region
// costs two messages one after the other, where a barrier at each end would cost four.
//
// The job travels on the line of the opening word, a worker's contribution to a reduction on the line of its arrival:
// neither costs a transfer of its own.
//
// Cost       one line to all, then ceil(log_fan n) rounds of transfers that overlap; with more participants than cores
//            one counter instead, so that the master is woken once.
// Source     paper 002, section III: masterBarrier and masterSync, with the reduction of section III.E inside.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/fan_in.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"

namespace tutti {

// Job and Slot are trivially copyable; Slot as for exchange_reduction.
template <class Job, class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class fork_join {
 public:
  // `crowded`: there are more participants than cores. `fan` is a power of two.
  fork_join(rank_t participants, bool crowded, rank_t fan = 16)
      : n_(participants),
        crowded_(crowded),
        tree_(participants, fan),
        locals_(participants),
        arrivals_(participants),
        opened_(participants),
        closed_(participants) {}

  rank_t participants() const noexcept { return n_; }

  // ---- the master, rank 0

  void open(const Job& job) {
    opening_.job = job;
    // release: publishes the job and all that the master did before; pairs with await.
    opening_.region.store(++locals_[0].episode, Memory::order("fork.open", release));
    opened_.notify(opening_.region);
  }

  // Waits for all workers of the region. False if the deadline passed first: it may be called again.
  template <class Deadline = no_deadline>
  bool close(Deadline deadline = {}) {
    if (crowded_) return wait_for_count(deadline);
    for (rank_t round = 0; round < tree_.rounds(); ++round)
      if (!await_children(0, round, deadline)) return false;
    return true;
  }

  // The same, and returns all contributions, the master's being `mine`, combined in the order of the tournament.
  template <class T, class Combine>
  T close(const T& mine, Combine combine) {
    if (crowded_) {
      wait_for_count(no_deadline{});
      return schedule::fold(
          0, n_, [&](rank_t r) { return r == 0 ? mine : static_cast<T>(arrivals_[r].value); },
          combine);
    }
    return collect_values(0, tree_.rounds(), mine, combine);
  }

  // Whether a worker has finished its part of the region that is open; a snapshot for messages.
  bool has_finished(rank_t rank) const noexcept {
    // relaxed: a snapshot.
    return arrivals_[rank].finished.load(relaxed) == locals_[0].episode;
  }

  // ---- the workers

  // Waits for the next region; its job stays valid until this worker arrives.
  const Job& await(rank_t rank) {
    participant<Wait>& me = locals_[rank];
    // acquire: pairs with open.
    opened_.until(me.seat, opening_.region, Memory::order("fork.await", acquire),
                  reached(++me.episode));
    return opening_.job;
  }

  void arrive(rank_t rank) {
    note_finished(rank);
    if (!crowded_) {
      const rank_t rounds = tree_.rounds_collected(rank);
      for (rank_t round = 0; round < rounds; ++round) await_children(rank, round, no_deadline{});
    }
    report(rank);
  }

  // The same with a contribution.
  template <class T, class Combine>
  void arrive(rank_t rank, const T& mine, Combine combine) {
    note_finished(rank);
    arrivals_[rank].value =
        crowded_ ? mine : collect_values(rank, tree_.rounds_collected(rank), mine, combine);
    report(rank);
  }

 private:
  struct alignas(cache_line) opening {
    typename Memory::template atomic<std::uint32_t> region{0};
    typename Memory::template plain<Job> job{};
  };
  struct alignas(cache_line) arrival {
    typename Memory::template atomic<std::uint32_t> region{0};
    typename Memory::template atomic<std::uint32_t> finished{0};
    typename Memory::template plain<Slot> value{};
  };

  void note_finished(rank_t rank) noexcept {
    // relaxed: read for messages only.
    arrivals_[rank].finished.store(locals_[rank].episode, relaxed);
  }

  void report(rank_t rank) {
    if (crowded_) {
      // seq_cst: release publishes my work and value, acquire carries the others'; the one order puts the last arrival
      // before the look for a sleeping master.
      const std::uint32_t before = count_.fetch_add(1, Memory::order("join.count", seq_cst));
      if (before + 1 == locals_[rank].episode * (n_ - 1)) closed_.notify_ordered(count_);
      return;
    }
    arrival& mine = arrivals_[rank];
    // release: publishes my work, that of my subtree, and the value; pairs with the collector's look.
    mine.region.store(locals_[rank].episode, Memory::order("join.arrive", release));
    closed_.notify(mine.region);
  }

  template <class Deadline>
  bool wait_for_count(Deadline deadline) {
    participant<Wait>& me = locals_[0];
    // acquire: pairs with every arrival through the counter's release sequence.
    return closed_.until(me.seat, count_, Memory::order("join.wait", acquire),
                         reached(me.episode * (n_ - 1)), deadline);
  }

  template <class Deadline>
  bool await_children(rank_t rank, rank_t round, Deadline deadline) {
    participant<Wait>& me = locals_[rank];
    const rank_t children = tree_.children(round, rank);
    for (rank_t i = 0; i < children; ++i)
      // acquire: pairs with the child's arrival.
      if (!closed_.until(me.seat, arrivals_[tree_.child(round, rank, i)].region,
                         Memory::order("join.collect", acquire), reached(me.episode), deadline))
        return false;
    return true;
  }

  template <class T, class Combine>
  T collect_values(rank_t rank, rank_t rounds, const T& mine, Combine& combine) {
    T sum = mine;
    for (rank_t round = 0; round < rounds; ++round) {
      await_children(rank, round, no_deadline{});
      sum = schedule::fold(
          0, tree_.children(round, rank) + 1,
          [&](rank_t i) {
            return i == 0 ? sum : static_cast<T>(arrivals_[tree_.child(round, rank, i - 1)].value);
          },
          combine);
    }
    return sum;
  }

  const rank_t n_;
  const bool crowded_;
  const schedule::fan_in tree_;
  array<participant<Wait>> locals_;
  array<arrival> arrivals_;
  opening opening_;
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> count_{0};
  Wait opened_;  // of the workers
  Wait closed_;  // of the master and the collectors
};

}  // namespace tutti
