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
// Between two regions a loop may be offered on the same word: whoever sees the offer helps, and nobody waits for those who
// do not (loop_desk.hpp). A region may be for the first k threads only; the others do not even wake up.
//
// Cost       ceil(log_fan n) rounds of messages that overlap, and as many back. With more participants than cores one
//            word opens for all and one counter ends it, so that nobody waits for anybody in particular.
// Source     paper 002, section III: masterBarrier and masterSync, with the reduction of section III.E inside.
#pragma once

#include "tutti/platform/array.hpp"
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
        fan_(fan),
        crowded_(crowded),
        is_flat_(participants <= fan),
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

  // For ranks 0 .. k-1; the others hear nothing of it. close_first() gets the same k.
  void open(const Job& job) { open(job, n_); }
  void open(const Job& job, rank_t k) {
    const std::uint32_t opening = ++locals_[0].opening;
    if (!crowded_) return open_children(0, opening, job, k);
    shared_.content = job;
    expected_ += k - 1;
    // relaxed: both are published by the word. Who is not among the k and comes late may find a later region's: it sees
    // that by the number, and has nothing to do in either case.
    expected_seen_.store(expected_, relaxed);
    scope_.store(std::uint64_t{opening} << 32 | k, relaxed);
    // release: publishes the job and all that the master did before; pairs with await.
    shared_.word.store(told(opening, region), Memory::order("fork.open_all", release));
    opened_.notify(shared_.word);
  }

  // Waits for all workers of the region. False if the deadline passed first: it may be called again.
  template <class Deadline = no_deadline>
  bool close(Deadline deadline = {}) {
    return close_first(n_, deadline);
  }
  template <class Deadline = no_deadline>
  bool close_first(rank_t k, Deadline deadline = {}) {
    if (crowded_) return wait_for_count(deadline);
    if (is_flat_) return await_flat(k, deadline);
    const schedule::fan_in tree = tree_of(k);
    for (rank_t round = 0; round < tree.rounds(); ++round)
      if (!await_children(tree, 0, round, deadline)) return false;
    return true;
  }

  // The same, and returns all contributions, the master's being `mine`, combined in the order of the tournament.
  template <class T, class Combine>
  T close(const T& mine, Combine combine) {
    return close_first(n_, mine, combine);
  }
  template <class T, class Combine>
  T close_first(rank_t k, const T& mine, Combine combine) {
    if (!crowded_ && !is_flat_) return collect(0, tree_of(k).rounds(), k, mine, combine);
    if (crowded_)
      wait_for_count(no_deadline{});
    else
      await_flat(k, no_deadline{});
    if (k == 2) return combine(mine, static_cast<T>(lines_[1].content));
    return schedule::fold(
        0, k, [&](rank_t r) { return r == 0 ? mine : static_cast<T>(lines_[r].content); }, combine);
  }

  // Tells the workers that are awake of a loop. What the master did before happens before await() returns there; nobody
  // arrives, and the next offer or region may follow at once.
  void offer() {
    const std::uint32_t opening = ++locals_[0].opening;
    if (crowded_)
      // release: publishes what is offered; pairs with await.
      return shared_.word.store(told(opening, loop), Memory::order("fork.offer_all", release));
    pass_offer_on(0, told(opening, loop));
  }
  // Wakes a worker that sleeps, for the last offer; if the team is crowded, any. By any thread.
  void wake(rank_t rank) {
    line& sleeper = crowded_ ? shared_ : lines_[rank];
    if constexpr (requires { opened_.notify_one(sleeper.word); })
      opened_.notify_one(sleeper.word);
    else
      opened_.notify(sleeper.word);
  }
  // How many workers sleep; a hint.
  rank_t asleep() const noexcept {
    if constexpr (requires { opened_.asleep(); })
      return opened_.asleep();
    else
      return 0;
  }

  // Whether a worker has finished its part of the region that is open; a snapshot for messages.
  bool has_finished(rank_t rank) const noexcept {
    // relaxed: a snapshot.
    return locals_[rank].finished.load(relaxed) == locals_[0].opening;
  }

  // ---- the workers

  // Waits for the next region or loop. True: a region that I am in; `job` says what to do, and arrive() follows. False: a
  // loop was offered, perhaps long ago.
  bool await(rank_t rank, Job& job) {
    local& me = locals_[rank];
    line& from = crowded_ ? shared_ : lines_[rank];
    for (;;) {
      // relaxed: the look below acquires.
      opened_.until(me.awaiting, from.word, relaxed,
                    [seen = me.seen](std::uint32_t now) { return now != seen; });
      // acquire: pairs with the opener's store.
      const std::uint32_t now = from.word.load(Memory::order("fork.await", acquire));
      me.seen = now;
      if ((now & loop) != region) [[unlikely]] {
        if (!crowded_ && !is_flat_) pass_offer_on(rank, now);
        return false;
      }
      me.opening = now >> 2;
      if (crowded_) [[unlikely]] {
        // relaxed: published by the word.
        const std::uint64_t scope = scope_.load(relaxed);
        if (scope >> 32 != me.opening || static_cast<rank_t>(scope) <= rank) continue;
      }
      job = static_cast<Job>(from.content);
      if (!crowded_ && !is_flat_) {
        me.participants = from.participants;
        open_children(rank, me.opening, job, me.participants);
      }
      return true;
    }
  }

  void arrive(rank_t rank) {
    note_finished(rank);
    if (!crowded_ && !is_flat_) {
      const schedule::fan_in tree = tree_of(locals_[rank].participants);
      const rank_t rounds = tree.rounds_collected(rank);
      for (rank_t round = 0; round < rounds; ++round)
        await_children(tree, rank, round, no_deadline{});
    }
    report(rank);
  }

  // The same with a contribution.
  template <class T, class Combine>
  void arrive(rank_t rank, const T& mine, Combine combine) {
    note_finished(rank);
    if (crowded_ || is_flat_) {
      lines_[rank].content = mine;
    } else {
      const rank_t k = locals_[rank].participants;
      lines_[rank].content = collect(rank, tree_of(k).rounds_collected(rank), k, mine, combine);
    }
    report(rank);
  }

 private:
  // What a word says: the number of the last opening, by two bits of what it was.
  static constexpr std::uint32_t region = 1, arrived = 2, loop = 3;
  static constexpr std::uint32_t told(std::uint32_t opening, std::uint32_t what) noexcept {
    return opening << 2 | what;
  }

  struct alignas(cache_line) line {
    typename Memory::template atomic<std::uint32_t> word{0};
    typename Memory::template plain<rank_t> participants{};  // of the region, for who opens others
    typename Memory::template plain<Slot> content{};
  };

  // What a participant keeps to itself.
  struct alignas(cache_line) local {
    std::uint32_t opening = 0;  // that it is in; the master's last one
    std::uint32_t seen = 0;     // what its word said when it last looked or wrote
    rank_t participants = 0;
    typename Wait::seat awaiting{};                               // the next region
    typename Wait::seat collecting{};                             // arrivals
    typename Memory::template atomic<std::uint32_t> finished{0};  // opening; for messages
  };

  schedule::fan_in tree_of(rank_t k) const noexcept {
    return k == n_ ? tree_ : schedule::fan_in(k, fan_);
  }

  void open_children(rank_t rank, std::uint32_t opening, const Job& job, rank_t k) {
    for_each_child(rank, k, [&](line& child) {
      child.content = job;
      if (!is_flat_) child.participants = k;
      // release: publishes the job and all that the master did before; pairs with the child's await.
      child.word.store(told(opening, region), Memory::order("fork.open", release));
    });
    // Only now: a notification waits until the stores before it are seen.
    for_each_child(rank, k, [&](line& child) { opened_.notify(child.word); });
  }

  // A worker wakes its children at once: it has nothing else to do that would be worth more.
  void pass_offer_on(rank_t rank, std::uint32_t word) {
    for_each_child(rank, n_, [&](line& child) {
      // release: publishes what is offered; pairs with await.
      child.word.store(word, Memory::order("fork.offer", release));
    });
    if (rank != 0) for_each_child(rank, n_, [&](line& child) { opened_.notify(child.word); });
  }

  // Visits the children among the first k ranks, those with the largest subtrees first.
  template <class Visit>
  void for_each_child(rank_t rank, rank_t k, Visit visit) {
    if (is_flat_) {
      for (rank_t child = 1; rank == 0 && child < k; ++child) visit(lines_[child]);
      return;
    }
    const schedule::fan_in tree = tree_of(k);
    for (rank_t round = tree.rounds_collected(rank); round > 0; --round) {
      const rank_t children = tree.children(round - 1, rank);
      for (rank_t i = 0; i < children; ++i) visit(lines_[tree.child(round - 1, rank, i)]);
    }
  }

  void note_finished(rank_t rank) noexcept {
    // relaxed: read for messages only.
    locals_[rank].finished.store(locals_[rank].opening, relaxed);
  }

  void report(rank_t rank) {
    local& me = locals_[rank];
    if (crowded_) {
      // relaxed: published by the opening; it stays until I have arrived.
      const std::uint32_t expected = expected_seen_.load(relaxed);
      // seq_cst: release publishes my work and value, acquire carries the others'; the one order puts the last arrival
      // before the look for a sleeping master.
      const std::uint32_t before = count_.fetch_add(1, Memory::order("join.count", seq_cst));
      if (before + 1 == expected) closed_.notify_ordered(count_);
      return;
    }
    line& mine = lines_[rank];
    me.seen = told(me.opening, arrived);
    // release: publishes my work, that of my subtree, and the value; pairs with the collector's look.
    mine.word.store(me.seen, Memory::order("join.arrive", release));
    closed_.notify(mine.word);
  }

  template <class Deadline>
  bool wait_for_count(Deadline deadline) {
    // acquire: pairs with every arrival through the counter's release sequence.
    return closed_.until(
        locals_[0].collecting, count_, Memory::order("join.wait", acquire),
        [all = expected_](std::uint32_t now) { return now == all; }, deadline);
  }

  template <class Deadline>
  bool await_arrival(local& me, line& child, Deadline deadline) {
    // acquire: pairs with the child's arrival.
    return closed_.until(
        me.collecting, child.word, Memory::order("join.collect", acquire),
        [all = told(me.opening, arrived)](std::uint32_t now) { return now == all; }, deadline);
  }

  template <class Deadline>
  bool await_flat(rank_t k, Deadline deadline) {
    for (rank_t child = 1; child < k; ++child)
      if (!await_arrival(locals_[0], lines_[child], deadline)) return false;
    return true;
  }

  template <class Deadline>
  bool await_children(const schedule::fan_in& tree, rank_t rank, rank_t round, Deadline deadline) {
    const rank_t children = tree.children(round, rank);
    for (rank_t i = 0; i < children; ++i)
      if (!await_arrival(locals_[rank], lines_[tree.child(round, rank, i)], deadline)) return false;
    return true;
  }

  template <class T, class Combine>
  T collect(rank_t rank, rank_t rounds, rank_t k, const T& mine, Combine& combine) {
    const schedule::fan_in tree = tree_of(k);
    T sum = mine;
    for (rank_t round = 0; round < rounds; ++round) {
      await_children(tree, rank, round, no_deadline{});
      sum = schedule::fold(
          0, tree.children(round, rank) + 1,
          [&](rank_t i) {
            return i == 0 ? sum : static_cast<T>(lines_[tree.child(round, rank, i - 1)].content);
          },
          combine);
    }
    return sum;
  }

  const rank_t n_, fan_;
  const bool crowded_;
  const bool is_flat_;  // the master opens and collects alone
  const schedule::fan_in tree_;
  array<local> locals_;
  array<line> lines_;           // of the workers
  line shared_;                 // of the workers together, if crowded
  std::uint32_t expected_ = 0;  // arrivals until the region that is open has ended, if crowded
  // What the workers know of it, on a line that is written only by the master.
  alignas(cache_line) typename Memory::template atomic<std::uint64_t> scope_{0};  // opening, k
  typename Memory::template atomic<std::uint32_t> expected_seen_{0};
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> count_{0};
  Wait opened_;  // of the workers
  Wait closed_;  // of the master and the collectors
};

}  // namespace tutti
