// SPDX-License-Identifier: Apache-2.0
// The two synchronisations of a parallel region: the master opens the region, and the arrivals of
// the workers end it for the master. No message releases the workers afterwards, because they wait
// for the next region. So a region costs two messages one after the other, where a barrier at each
// end would cost four.
//
// A worker and the rank that opens the region for it share one cache line for both directions: the
// job goes one way, and the arrival comes back on the same line with the worker's contribution to a
// reduction. A core that has just received a line to read the job can write its arrival there
// without a further transfer. With a line for each direction every message costs two transfers (a
// region of two threads takes 118 ns with one line and 250 ns with two).
//
// Between two regions the master may offer a loop on the same word: workers that see the offer
// help, and the master does not wait for the others (loop_desk.hpp). A region may be for the first
// k threads only; the others do not even wake up.
//
// Cost       ceil(log_fan n) rounds of messages that overlap, and as many back. With more
//            participants than cores one word opens the region for all and one counter ends it, so
//            no participant waits for a particular other one.
// Source     Berger and Stamatakis, section III: masterBarrier and masterSync, with the reduction
//            of section III.E inside.
#pragma once

#include "tutti/platform/array.hpp"
#include "tutti/schedule/choose.hpp"
#include "tutti/schedule/fan_in.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot holds a Job or a contribution: it is the type of both, or a raw_value.
template <class Job, class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class fork_join {
 public:
  // `crowded` tells that there are more participants than cores. `fan` must be a power of two.
  fork_join(rank_t participants, bool crowded, rank_t fan = choose::fan_of_regions)
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

  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept {
    set_patience_of(opened_, p);
    return set_patience_of(closed_, p);
  }

  // ---- the master, rank 0

  // Opens a region for all ranks, or for ranks 0 .. k-1; the others take no part. close_first()
  // must get the same k.
  void open(const Job& job) { open(job, n_); }
  void open(const Job& job, rank_t k) {
    const std::uint32_t opening = next_opening();
    if (!crowded_) return open_children(0, opening, job, k);
    shared_.content = job;
    expected_ += k - 1;
    // relaxed: the word publishes both. A late rank beyond the first k may find the values of a
    // later region; it recognises that by the number, and has nothing to do in either case.
    expected_seen_.store(expected_, relaxed);
    scope_.store(std::uint64_t{opening} << 32 | k, relaxed);
    // release: publishes the job and all that the master did before; pairs with await.
    shared_.word.store(told(opening, region), Memory::order("fork.open_all", release));
    opened_.notify(shared_.word);
  }

  // Waits for all workers of the region. Returns false if the deadline passed first; then it may be
  // called again.
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

  // Does the same and returns all contributions, combined in the order of the tournament. `mine` is
  // the master's contribution.
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

  // Offers a loop to the workers that are awake. What the master did before happens before await()
  // returns there. Workers do not arrive after a loop, and the next offer or region may follow at
  // once.
  void offer() {
    const std::uint32_t opening = next_opening();
    if (crowded_)
      // release: publishes the loop; pairs with await.
      return shared_.word.store(told(opening, loop), Memory::order("fork.offer_all", release));
    pass_offer_on(0, told(opening, loop));
  }
  // Wakes a worker that sleeps, because of the last offer: the worker `rank`, or any worker if
  // there are more participants than cores. Any thread may call it.
  void wake(rank_t rank) {
    line& sleeper = crowded_ ? shared_ : lines_[rank];
    if constexpr (requires { opened_.notify_one(sleeper.word); })
      opened_.notify_one(sleeper.word);
    else
      opened_.notify(sleeper.word);
  }
  // Returns how many workers sleep. The number may be out of date when it is returned.
  rank_t asleep() const noexcept {
    if constexpr (requires { opened_.asleep(); })
      return opened_.asleep();
    else
      return 0;
  }

  // Corrects what a worker that was woken for a loop learns about its waits. The first loop with
  // which it could have helped began `ns_ago` nanoseconds ago, and `followers` more loops followed,
  // each after `gap_ns`. Only the worker itself may call it.
  void note_slept_through(rank_t rank, std::uint32_t ns_ago, unsigned followers,
                          std::uint32_t gap_ns) noexcept {
    if constexpr (requires { opened_.note_slept_through(locals_[rank].awaiting, 0, 0, 0); })
      opened_.note_slept_through(locals_[rank].awaiting, ns_ago, followers, gap_ns);
  }

  // Tells whether a worker has finished its part of the open region: a snapshot for messages.
  bool has_finished(rank_t rank) const noexcept {
    // relaxed: a snapshot.
    return locals_[rank].finished.load(relaxed) == locals_[0].opening;
  }

  // Makes as if all workers had arrived, in a process that does not have them: fork() copies only
  // the thread that calls it.
  void forget_others() noexcept {
    // relaxed: there is no other thread.
    for (line& each : lines_) each.word.store(told(locals_[0].opening, arrived), relaxed);
    count_.store(expected_, relaxed);
  }

  // Makes as if there had been so many openings, before the first one.
  void begin(std::uint32_t openings) noexcept { locals_[0].opening = openings % most_openings; }

  // ---- the workers

  // Waits for the next region or loop. It returns true for a region that includes this rank: `job`
  // is then the region's job, and arrive() must follow. It returns false for a loop, which may have
  // been offered long ago.
  bool await(rank_t rank, Job& job) {
    local& me = locals_[rank];
    line& from = crowded_ ? shared_ : lines_[rank];
    for (;;) {
      // relaxed: the load below acquires.
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
        // relaxed: the word publishes it.
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

  // Arrives at the end of the region.
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

  // Does the same with a contribution to the reduction.
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
  // A word holds the number of the last opening and, in its two low bits, what that was.
  static constexpr std::uint32_t region = 1, arrived = 2, loop = 3;
  // After so many openings the numbers begin again at 0: all copies of one have as many bits as a
  // word has for it.
  static constexpr std::uint32_t most_openings = std::uint32_t{1} << 30;
  std::uint32_t next_opening() noexcept {
    return locals_[0].opening = (locals_[0].opening + 1) % most_openings;
  }
  static constexpr std::uint32_t told(std::uint32_t opening, std::uint32_t what) noexcept {
    return opening << 2 | what;
  }

  struct alignas(cache_line) line {
    typename Memory::template atomic<std::uint32_t> word{0};
    // The number of ranks in the region, for a rank that opens it for others.
    typename Memory::template plain<rank_t> participants{};
    typename Memory::template plain<Slot> content{};
  };

  // The private state of a participant.
  struct alignas(cache_line) local {
    // The number of the opening that the participant is in; for the master, the last opening.
    std::uint32_t opening = 0;
    // The value of its word when it last read or wrote it.
    std::uint32_t seen = 0;
    // The number of ranks in the region.
    rank_t participants = 0;
    // The wait policy's state for waits for the next region, and for waits for arrivals.
    typename Wait::wait_state awaiting{};
    typename Wait::wait_state collecting{};
    // The last opening whose region it has finished, for messages.
    typename Memory::template atomic<std::uint32_t> finished{0};
  };

  schedule::fan_in tree_of(rank_t k) const noexcept {
    return k == n_ ? tree_ : schedule::fan_in(k, fan_);
  }

  void open_children(rank_t rank, std::uint32_t opening, const Job& job, rank_t k) {
    for_each_child(rank, k, [&](line& child) {
      child.content = job;
      if (!is_flat_) child.participants = k;
      // release: publishes the job and all that the master did before; pairs with the child's
      // await.
      child.word.store(told(opening, region), Memory::order("fork.open", release));
    });
    // Notifications come last, because each waits until the stores before it are visible.
    for_each_child(rank, k, [&](line& child) { opened_.notify(child.word); });
  }

  // Passes an offer on to the children. A worker also wakes them, because nothing else that it
  // could do matters more.
  void pass_offer_on(rank_t rank, std::uint32_t word) {
    for_each_child(rank, n_, [&](line& child) {
      // release: publishes the loop; pairs with await.
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
    // relaxed: others read it for messages only.
    locals_[rank].finished.store(locals_[rank].opening, relaxed);
  }

  void report(rank_t rank) {
    local& me = locals_[rank];
    if (crowded_) {
      // relaxed: the opening publishes it, and it does not change until I have arrived.
      const std::uint32_t expected = expected_seen_.load(relaxed);
      // seq_cst: release publishes my work and value, and acquire passes on those of the others;
      // the total order puts the last arrival before the check for a sleeping master.
      const std::uint32_t before = count_.fetch_add(1, Memory::order("join.count", seq_cst));
      if (before + 1 == expected) closed_.notify_ordered(count_);
      return;
    }
    line& mine = lines_[rank];
    me.seen = told(me.opening, arrived);
    // release: publishes my work, that of my subtree, and the value; pairs with the collector's
    // acquire.
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
  // Whether the master opens and collects alone.
  const bool is_flat_;
  const schedule::fan_in tree_;
  array<local> locals_;
  // The line of each worker.
  array<line> lines_;
  // The line of all workers together, if crowded.
  line shared_;
  // The arrivals at which the open region ends, counted since the start, if crowded.
  std::uint32_t expected_ = 0;
  // The opening and k, and expected_, for the workers. Only the master writes this cache line.
  alignas(cache_line) typename Memory::template atomic<std::uint64_t> scope_{0};
  typename Memory::template atomic<std::uint32_t> expected_seen_{0};
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> count_{0};
  // How the workers wait for a region, and how the master and the collectors wait for arrivals.
  Wait opened_;
  Wait closed_;
};

}  // namespace tutti
