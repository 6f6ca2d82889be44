// SPDX-License-Identifier: Apache-2.0
// The memory that the ranks of one communicator on one node share, and the collective operations in
// it. It knows nothing of MPI: ranks here count from 0 on this node.
//
// Everything rests on one ticket barrier; that of two ranks has their short values beside its
// counter. A reduction is: leave a value, pass the barrier, combine all values in the order of
// schedule::fold; every rank does so itself, and there is no second wait. Values have two
// generations: a rank that writes one of generation g again has passed a barrier since, so all have
// read the old one. A broadcast is an entry in a ring of `entries`: its root goes on at once. Every
// rank counts the broadcasts since the last barrier, and all pass one before an entry is used
// again.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "preload/mpi/joint_patience.hpp"
#include "preload/mpi/operations.hpp"
#include "preload/mpi/pair.hpp"
#include "preload/mpi/progressing.hpp"
#include "tutti/barrier/participant.hpp"
#include "tutti/barrier/ticket.hpp"
#include "tutti/wait/between_processes.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti::preload {

class room {
 public:
  using wait_policy = process_wait<progressing>;
  // The most bytes of a value of one rank.
  static constexpr std::size_t most_bytes = 1024;
  static constexpr rank_t most_ranks = 1024;
  static constexpr std::uint32_t entries = 8;

  // What everybody may know of a rank.
  struct alignas(cache_line) record {
    // The number of the last episode of the barrier in which it arrived.
    std::atomic<std::uint64_t> arrivals{0};
    std::int32_t pid = 0;
    // The rank in the communicator.
    std::int32_t rank = 0;
  };

  static std::size_t bytes_for(rank_t ranks) noexcept { return extent(ranks).all; }

  // One rank builds the room in memory that is zero, before any other opens it. `cpus`: how many
  // CPUs the node has.
  static void build(void* base, rank_t ranks, long cpus = ::sysconf(_SC_NPROCESSORS_ONLN)) {
    const offsets at = extent(ranks);
    auto* const bytes = static_cast<std::byte*>(base);
    ::new (bytes) hub(ranks, ranks >= least_ranks_of_groups && cpus >= static_cast<long>(ranks));
    for (rank_t i = 0; i < groups_of(ranks); ++i)
      ::new (bytes + at.groups + i * sizeof(group)) group();
    for (rank_t i = 0; i < ranks; ++i) ::new (bytes + at.records + i * sizeof(record)) record();
    for (rank_t i = 0; i < ranks; ++i) ::new (bytes + at.started + i * sizeof(count)) count(0);
    for (std::uint32_t i = 0; i < entries; ++i) ::new (bytes + at.ring + i * sizeof(entry)) entry();
  }

  // A rank's view of the room at `base`.
  room(void* base, rank_t ranks, rank_t me) noexcept
      : base_(static_cast<std::byte*>(base)),
        at_(extent(ranks)),
        n_(ranks),
        me_(me),
        decides_(me == 0 && patience{}.chosen().is_balanced()),
        is_pair_(ranks == 2) {
    if (decides_) set_patience();
  }

  rank_t ranks() const noexcept { return n_; }
  rank_t me() const noexcept { return me_; }
  void* base() const noexcept { return base_; }
  record& of(rank_t rank) noexcept { return part<record>(at_.records)[rank]; }

  // --- collective operations: a rank arrives, and waits if the episode is not over then

  // Returns true if this rank is the last, so that the episode is over.
  bool arrive() noexcept {
    if (is_pair_) {
      if (!arrive_of_two()) return false;
      the_hub().both.wake();
      return true;
    }
    begin_episode();
    return (drawn_ = draw_ticket()).is_last;
  }
  // The same for two ranks, in two parts. If this rank is the last and the other sleeps, it must
  // call wake().
  bool is_of_two() const noexcept { return is_pair_; }
  bool arrive_of_two() noexcept {
    begin_episode();
    return the_hub().both.arrive(episodes_);
  }
  bool is_asleep() const noexcept { return the_hub().both.is_asleep(); }
  void wake() noexcept { the_hub().both.wake(); }
  // Leaves this rank's value for combine_all(); then it must arrive.
  void leave(const void* value, std::size_t bytes) noexcept {
    generation_ ^= 1;
    copy_value(place(me_, bytes), value, bytes);
  }
  // Waits until the episode is over. Returns false if the deadline has passed, and then may be
  // called again.
  template <class Deadline>
  bool wait_for_others(Deadline until) noexcept {
    enter();
    // relaxed: only those who ask who is missing read it.
    of(me_).arrivals.store(episodes_, relaxed);
    const bool looks = decides_ && patience_.looks();
    const std::uint64_t start = looks ? progressing::now_ns() : 0;
    if (!(is_pair_ ? the_hub().both.wait(episodes_, barrier_wait_, until)
                   : the_hub().barrier.wait(drawn_, barrier_wait_, until)))
      return false;
    if (looks) learn(progressing::now_ns() - start);
    return true;
  }
  // Combines what all ranks left before the episode that is over.
  void combine_all(combine op, void* result, std::size_t values, std::size_t bytes) noexcept {
    if (n_ == 2) {
      copy_value(result, place(0, bytes), bytes);
      op(result, place(1, bytes), values);
    } else {
      fold(0, n_, op, static_cast<std::byte*>(result), values, bytes);
    }
  }

  // Call this before publish() and take(): true if all ranks must pass the barrier first.
  bool ring_is_used_up() const noexcept { return broadcasts_since_barrier_ == entries; }
  void publish(const void* data, std::size_t bytes) noexcept {
    entry& e = next_entry();
    e.bytes = static_cast<std::uint32_t>(bytes);
    if (bytes > 0) std::memcpy(e.data, data, bytes);
    // release: publishes the data; pairs with take().
    e.number.store(broadcasts_, release);
    the_hub().broadcast_wait.notify(e.number);
  }
  // Waits for the next broadcast and copies at most `most` bytes. `bytes` is what was sent.
  template <class Deadline>
  bool take(void* data, std::size_t most, std::size_t& bytes, Deadline until,
            bool is_again = false) noexcept {
    enter();
    entry& e = is_again ? this_entry() : next_entry();
    // acquire: pairs with publish().
    if (!the_hub().broadcast_wait.until(broadcast_wait_, e.number, acquire, reached(broadcasts_),
                                        until))
      return false;
    bytes = e.bytes;
    if (bytes > 0 && most > 0) std::memcpy(data, e.data, bytes < most ? bytes : most);
    return true;
  }

  // --- barriers that nobody waits for yet. Each rank counts those that it has started; the k-th is
  // --- over when all counts have reached k.
  std::uint32_t start_barrier() noexcept {
    // relaxed: only this rank writes it.
    const std::uint32_t mine = started(me_).load(relaxed) + 1;
    // release: publishes what this rank did before; pairs with is_over().
    started(me_).store(mine, release);
    return mine;
  }
  // `next`: the first rank that had not started it at the last look.
  bool is_over(std::uint32_t number, rank_t& next) noexcept {
    // acquire: pairs with start_barrier().
    while (next < n_ && reached(number)(started(next).load(acquire))) ++next;
    return next == n_;
  }

  // --- several nodes: rank 0 waits for the others, and publishes what comes from there

  // Rank 0 calls this before it waits.
  void go_outside() noexcept {
    // relaxed: only those who ask who is missing read it.
    the_hub().outside.store(broadcasts_ + 1, relaxed);
  }
  // Whether rank 0 has gone outside for the broadcast that this rank takes, or for the one that it
  // takes next.
  bool is_outside_for_this() const noexcept {
    // relaxed: a snapshot for messages.
    return the_hub().outside.load(relaxed) == broadcasts_;
  }
  bool is_outside_for_next() const noexcept {
    // relaxed: as above.
    return the_hub().outside.load(relaxed) == broadcasts_ + 1;
  }

  // Whether another rank has arrived in the episode in which this one waits.
  bool has_arrived(rank_t rank) noexcept {
    // relaxed: a snapshot for messages.
    return of(rank).arrivals.load(relaxed) >= episodes_;
  }
  // Returns true to the first that asks: one rank speaks for all.
  bool may_speak() noexcept {
    // relaxed: publishes nothing.
    return !the_hub().has_spoken.exchange(true, relaxed);
  }

 private:
  using count = std::atomic<std::uint32_t>;
  struct hub {
    hub(rank_t ranks, bool with_groups)
        : barrier(ranks), both(ranks), broadcast_wait(ranks), has_groups(with_groups) {}
    ticket_barrier<progressing, wait_policy> barrier;
    pair<wait_policy> both;
    alignas(cache_line) wait_policy broadcast_wait;
    std::atomic<bool> has_spoken{false};
    // The number of the broadcast for which rank 0 has gone outside.
    count outside{0};
    // Whether each rank has a CPU, and there are many.
    const bool has_groups;
    platform::cpu_hints hints[platform::core_slots];
  };
  struct alignas(cache_line) entry {
    std::atomic<std::uint32_t> number{0};
    std::uint32_t bytes = 0;
    std::byte data[most_bytes];
  };
  // How many ranks of a group have arrived in this episode.
  struct alignas(cache_line) group {
    count arrived{0};
  };
  static constexpr rank_t least_ranks_of_groups = 6, ranks_in_group = 4;
  static constexpr rank_t groups_of(rank_t ranks) noexcept {
    return (ranks + ranks_in_group - 1) / ranks_in_group;
  }
  struct offsets {
    std::size_t records, groups, started, small, large, ring, all;
  };

  static offsets extent(rank_t n) noexcept {
    const auto lines = [](std::size_t bytes) {
      return (bytes + cache_line - 1) / cache_line * cache_line;
    };
    offsets at{};
    at.records = lines(sizeof(hub));
    at.groups = at.records + n * sizeof(record);
    at.started = at.groups + groups_of(n) * sizeof(group);
    at.small = at.started + lines(n * sizeof(count));
    at.large = at.small + 2 * lines(n * small_bytes);
    at.ring = at.large + 2 * n * most_bytes;
    at.all = at.ring + entries * sizeof(entry);
    return at;
  }
  template <class T>
  T* part(std::size_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }
  hub& the_hub() const noexcept { return *part<hub>(0); }
  count& started(rank_t rank) const noexcept { return part<count>(at_.started)[rank]; }

  using tickets = ticket_barrier<progressing, wait_policy>::tickets;

  // Draws the rank's ticket. Where each rank has a CPU, the ranks of a group count their arrivals
  // on a line of its own, and the last one draws the tickets of all, because the others poll the
  // line of the tickets.
  tickets draw_ticket() noexcept {
    hub& all = the_hub();
    if (!all.has_groups) return all.barrier.draw();
    const rank_t first = me_ - me_ % ranks_in_group;
    const rank_t members = n_ - first < ranks_in_group ? n_ - first : ranks_in_group;
    count& arrived = part<group>(at_.groups)[me_ / ranks_in_group].arrived;
    // acq_rel: the last one of the group acquires what the others wrote; its tickets publish it.
    if (arrived.fetch_add(1, acq_rel) + 1 != members)
      return {episodes_ - 1, episodes_ * n_, false, false};
    // relaxed: the tickets publish it to the next episode.
    arrived.store(0, relaxed);
    return all.barrier.draw(members);
  }

  void begin_episode() noexcept {
    ++episodes_;
    broadcasts_since_barrier_ = 0;
  }

  // What the rank that decides does after a timed wait.
  [[gnu::noinline]] void learn(std::uint64_t ns) noexcept {
    const patience before = patience_.chosen();
    patience_.learn(ns, barrier_wait_.crowded_waits > 0);
    if (patience_.chosen() != before) set_patience();
  }
  void set_patience() noexcept {
    the_hub().barrier.set_patience(patience_.chosen());
    the_hub().both.set_patience(patience_.chosen());
    the_hub().broadcast_wait.set_patience(patience_.chosen());
  }

  // What this thread's waits share with those of the other ranks.
  void enter() const noexcept { across_processes::node_hints = the_hub().hints; }

  // Most values have 8 bytes, which need no call of memcpy.
  static void copy_value(void* to, const void* from, std::size_t bytes) noexcept {
    if (bytes == small_bytes) [[likely]]
      std::memcpy(to, from, small_bytes);
    else
      std::memcpy(to, from, bytes);
  }

  // Values of up to 8 bytes lie side by side, so that whoever combines them reads few lines.
  static constexpr std::size_t small_bytes = pair<wait_policy>::most_bytes;
  std::byte* place(rank_t rank, std::size_t bytes) const noexcept {
    if (bytes <= small_bytes && is_pair_) return the_hub().both.value(generation_, rank);
    if (bytes <= small_bytes)
      return base_ + at_.small + generation_ * ((at_.large - at_.small) / 2) + rank * small_bytes;
    return base_ + at_.large + (generation_ * n_ + rank) * most_bytes;
  }
  void fold(rank_t first, rank_t ranks, combine op, std::byte* result, std::size_t values,
            std::size_t bytes) noexcept {
    if (ranks == 1) {
      copy_value(result, place(first, bytes), bytes);
      return;
    }
    rank_t half = 1;
    while (half < ranks - half) half *= 2;
    fold(first, half, op, result, values, bytes);
    if (ranks - half == 1) {
      op(result, place(first + half, bytes), values);
      return;
    }
    alignas(16) std::byte right[most_bytes];
    fold(first + half, ranks - half, op, right, values, bytes);
    op(result, right, values);
  }

  entry& this_entry() const noexcept { return part<entry>(at_.ring)[broadcasts_ % entries]; }
  entry& next_entry() noexcept {
    ++broadcasts_;
    ++broadcasts_since_barrier_;
    return this_entry();
  }

  std::byte* base_;
  offsets at_;
  rank_t n_, me_;
  // Whether this rank chooses the patience of all, which the program has left open.
  bool decides_;
  // Two ranks have a barrier of their own.
  bool is_pair_;
  joint_patience patience_;
  // This rank's own counts, which are the same on all ranks because all call the same operations.
  std::uint64_t episodes_ = 0;
  std::uint32_t broadcasts_ = 0, broadcasts_since_barrier_ = 0, generation_ = 0;
  tickets drawn_{};
  wait_policy::wait_state barrier_wait_{}, broadcast_wait_{};
};

}  // namespace tutti::preload
