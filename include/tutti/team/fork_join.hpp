// SPDX-License-Identifier: Apache-2.0
// A parallel region's two meetings: the master opens it, and the workers' arrivals end it for the master. Nobody releases
// the workers again: they wait for the next region, so that a region costs two messages one after the other, where a
// barrier at each end would cost four.
//
// Between a worker and whoever opens the region for it there is one line, for both directions: the job goes one way, the
// arrival with the worker's contribution to a reduction comes back on the same line. Who has just read a line that another
// core has written owns it, and writes it without a further transfer; with a line for each direction every message costs
// two transfers (region of two threads: 118 ns with one line, 250 ns with two).
//
// Cost       ceil(log_fan n) rounds of messages that overlap, and as many back. With more participants than cores one
//            word opens for all and one counter ends it, so that nobody waits for anybody in particular.
// Source     paper 002, section III: masterBarrier and masterSync, with the reduction of section III.E inside.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/schedule/fan_in.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot holds a Job or a contribution: the type of both, or a raw_value.
template <class Job, class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class fork_join {
 public:
  // `crowded`: there are more participants than cores. `fan` is a power of two.
  fork_join(rank_t participants, bool crowded, rank_t fan = 16)
      : n_(participants),
        crowded_(crowded),
        tree_(participants, fan),
        locals_(participants),
        lines_(participants),
        opened_(participants),
        closed_(participants) {}

  rank_t participants() const noexcept { return n_; }

  // From the next wait on; at any time, by any thread. False: the policy has no patience.
  bool set_patience(patience p) noexcept {
    set_patience_of(opened_, p);
    return set_patience_of(closed_, p);
  }

  // ---- the master, rank 0

  void open(const Job& job) {
    const std::uint32_t region = ++locals_[0].episode;
    if (!crowded_) return open_children(0, region, job);
    shared_.content = job;
    // release: publishes the job and all that the master did before; pairs with await.
    shared_.word.store(opened(region), Memory::order("fork.open_all", release));
    opened_.notify(shared_.word);
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
    if (!crowded_) return collect(0, tree_.rounds(), mine, combine);
    wait_for_count(no_deadline{});
    return schedule::fold(
        0, n_, [&](rank_t r) { return r == 0 ? mine : static_cast<T>(lines_[r].content); },
        combine);
  }

  // Whether a worker has finished its part of the region that is open; a snapshot for messages.
  bool has_finished(rank_t rank) const noexcept {
    // relaxed: a snapshot.
    return lines_[rank].finished.load(relaxed) == locals_[0].episode;
  }

  // ---- the workers

  // Waits for the next region.
  Job await(rank_t rank) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t region = ++me.episode;
    line& from = crowded_ ? shared_ : lines_[rank];
    // acquire: pairs with the opener's store.
    opened_.until(me.seat, from.word, Memory::order("fork.await", acquire),
                  reached(opened(region)));
    const Job job = static_cast<Job>(from.content);
    if (!crowded_) open_children(rank, region, job);
    return job;
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
    lines_[rank].content =
        crowded_ ? mine : collect(rank, tree_.rounds_collected(rank), mine, combine);
    report(rank);
  }

 private:
  struct alignas(cache_line) line {
    typename Memory::template atomic<std::uint32_t> word{0};      // opened(region), arrived(region)
    typename Memory::template atomic<std::uint32_t> finished{0};  // region; for messages
    typename Memory::template plain<Slot> content{};
  };

  // What the word of a line says; wraps.
  static constexpr std::uint32_t opened(std::uint32_t region) noexcept { return 2 * region - 1; }
  static constexpr std::uint32_t arrived(std::uint32_t region) noexcept { return 2 * region; }

  void open_children(rank_t rank, std::uint32_t region, const Job& job) {
    for_each_child(rank, [&](line& child) {
      child.content = job;
      // release: publishes the job and all that the master did before; pairs with the child's await.
      child.word.store(opened(region), Memory::order("fork.open", release));
    });
    // Only now: a notification waits until the stores before it are seen.
    for_each_child(rank, [&](line& child) { opened_.notify(child.word); });
  }

  // Those with the largest subtrees first.
  template <class Visit>
  void for_each_child(rank_t rank, Visit visit) {
    for (rank_t round = tree_.rounds_collected(rank); round > 0; --round) {
      const rank_t children = tree_.children(round - 1, rank);
      for (rank_t i = 0; i < children; ++i) visit(lines_[tree_.child(round - 1, rank, i)]);
    }
  }

  void note_finished(rank_t rank) noexcept {
    // relaxed: read for messages only.
    lines_[rank].finished.store(locals_[rank].episode, relaxed);
  }

  void report(rank_t rank) {
    const std::uint32_t region = locals_[rank].episode;
    if (crowded_) {
      // seq_cst: release publishes my work and value, acquire carries the others'; the one order puts the last arrival
      // before the look for a sleeping master.
      const std::uint32_t before = count_.fetch_add(1, Memory::order("join.count", seq_cst));
      if (before + 1 == region * (n_ - 1)) closed_.notify_ordered(count_);
      return;
    }
    line& mine = lines_[rank];
    // release: publishes my work, that of my subtree, and the value; pairs with the collector's look.
    mine.word.store(arrived(region), Memory::order("join.arrive", release));
    closed_.notify(mine.word);
  }

  template <class Deadline>
  bool wait_for_count(Deadline deadline) {
    participant<Wait>& me = locals_[0];
    // acquire: pairs with every arrival through the counter's release sequence.
    return closed_.until(me.collecting, count_, Memory::order("join.wait", acquire),
                         reached(me.episode * (n_ - 1)), deadline);
  }

  template <class Deadline>
  bool await_children(rank_t rank, rank_t round, Deadline deadline) {
    participant<Wait>& me = locals_[rank];
    const rank_t children = tree_.children(round, rank);
    for (rank_t i = 0; i < children; ++i)
      // acquire: pairs with the child's arrival.
      if (!closed_.until(me.collecting, lines_[tree_.child(round, rank, i)].word,
                         Memory::order("join.collect", acquire), reached(arrived(me.episode)),
                         deadline))
        return false;
    return true;
  }

  template <class T, class Combine>
  T collect(rank_t rank, rank_t rounds, const T& mine, Combine& combine) {
    T sum = mine;
    for (rank_t round = 0; round < rounds; ++round) {
      await_children(rank, round, no_deadline{});
      sum = schedule::fold(
          0, tree_.children(round, rank) + 1,
          [&](rank_t i) {
            return i == 0 ? sum : static_cast<T>(lines_[tree_.child(round, rank, i - 1)].content);
          },
          combine);
    }
    return sum;
  }

  const rank_t n_;
  const bool crowded_;
  const schedule::fan_in tree_;
  array<participant<Wait>> locals_;
  array<line> lines_;  // of the workers
  line shared_;        // of the workers together, if crowded
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> count_{0};
  Wait opened_;  // of the workers
  Wait closed_;  // of the master and the collectors
};

}  // namespace tutti
