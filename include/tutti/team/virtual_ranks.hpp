// SPDX-License-Identifier: Apache-2.0
// The virtual ranks of a team: several ranks on each thread, as fibers. It has their collective
// operations, in which the last rank of each thread acts for all ranks of the thread.
// Hosted only: it needs fibers.
#pragma once

#include <bit>
#include <optional>

#include "tutti/platform/array.hpp"
#include "tutti/schedule/tournament.hpp"
#include "tutti/team/compact_values.hpp"
#include "tutti/team/fibers.hpp"
#include "tutti/team/group_sync.hpp"
#include "tutti/team/member.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti::detail {

template <class Memory>
class virtual_ranks {
  template <class T>
  using atomic = typename Memory::template atomic<T>;

 public:
  // The ranks of one thread.
  struct alignas(cache_line) thread_group {
    std::optional<typename Memory::fiber_group> fibers;
    rank_t first_rank = 0;
    // The number of them that take part in the region.
    rank_t size = 0;
    atomic<std::uint32_t> arrived{0};
    atomic<std::uint32_t> episode{0};
    line_value result;
  };

  // `cancelled` must outlive this object.
  virtual_ranks(rank_t ranks, rank_t threads, const fiber_options& options,
                const basic_cancellation<Memory>& cancelled)
      : cancelled_(&cancelled),
        groups_(threads),
        values_{compact_values(ranks), compact_values(ranks)},
        results_(ranks),
        are_subtrees_(ranks % threads == 0 && std::has_single_bit(ranks / threads)),
        has_ended_(ranks) {
    rank_t first = 0;
    for (rank_t thread = 0; thread < threads; ++thread) {
      const rank_t size = ranks / threads + (thread < ranks % threads ? 1 : 0);
      thread_group& made = groups_[thread];
      made.fibers.emplace(size, first, options);
      made.first_rank = first;
      made.size = size;
      first += size;
    }
  }

  thread_group& group(rank_t thread) noexcept { return groups_[thread]; }
  // What the ranks return from a region.
  compact_values& results() noexcept { return results_; }
  // Whether each thread's ranks are a subtree of the tournament.
  bool are_subtrees() const noexcept { return are_subtrees_; }

  // relaxed: which ranks have ended serves messages only.
  void note_end(rank_t rank) noexcept { has_ended_[rank].store(true, relaxed); }
  bool has_ended(rank_t rank) const noexcept { return has_ended_[rank].load(relaxed); }
  void forget_ends() noexcept {
    // relaxed: the opening of the next region publishes it.
    for (auto& each : has_ended_) each.store(false, relaxed);
  }
  // Must be called after a failed region.
  void forget_arrivals() noexcept {
    // relaxed: the next region publishes it.
    for (thread_group& each : groups_) each.arrived.store(0, relaxed);
  }

  // Synchronises all virtual ranks. The last rank of
  // each thread calls meet_threads() for all of its thread. Returns false if the region is
  // cancelled.
  template <class MeetThreads>
  bool meet(basic_member<Memory>& me, MeetThreads meet_threads);
  bool meet(basic_member<Memory>& me);
  template <class T>
  const compact_values& post(basic_member<Memory>& me, const T& value);
  template <class Op, class T>
  T reduce(basic_member<Memory>& me, const Op& op, const T& value);
  // Combines values without copying them: the last rank of each thread stores combine(get), where
  // *get(rank) is the value of that rank, in its own `of_all`, for all ranks of its thread. No rank
  // may destroy its `value` or `of_all` before all ranks have synchronised again.
  template <class V, class Combine, class T>
  const T& combine(basic_member<Memory>& me, const V& value, const Combine& combine, T& of_all);
  // Combines the values of the ranks of a thread.
  template <class T, class Op>
  T fold_of_thread(const compact_values& values, rank_t thread, const Op& op) const {
    const thread_group& mine = groups_[thread];
    return schedule::fold(mine.first_rank, mine.size, values.template get<T>(), op);
  }

 private:
  const basic_cancellation<Memory>* cancelled_;
  array<thread_group> groups_;
  // The values of ranks inside a region, which take turns, and their results of a region.
  compact_values values_[2];
  compact_values results_;
  bool are_subtrees_;
  array<atomic<bool>> has_ended_;
};

template <class Memory>
template <class MeetThreads>
bool virtual_ranks<Memory>::meet(basic_member<Memory>& me, MeetThreads meet_threads) {
  if (cancelled_->requested()) return false;
  thread_group& mine = groups_[me.thread()];
  // relaxed: it changes only once I have arrived.
  const std::uint32_t episode = mine.episode.load(relaxed);
  // acquire: pairs with the arrivals of the earlier fibers, and makes their writes visible. They
  // run on my thread, but a sanitizer takes each fiber for a thread.
  const std::uint32_t arrived = mine.arrived.load(acquire) + 1;
  if (arrived == mine.size) {
    // relaxed: the store to the episode below publishes it.
    mine.arrived.store(0, relaxed);
    if (!mine.fibers->on_behalf_of_all(meet_threads)) return false;
    // release: publishes the other threads' writes, and the result; pairs with the load below.
    mine.episode.store(episode + 1, release);
    return true;
  }
  // release: publishes my work to the last fiber that arrives.
  mine.arrived.store(arrived, release);
  do {
    if (cancelled_->requested()) return false;
    mine.fibers->let_others_run();
    // acquire: pairs with the last fiber's store.
  } while (mine.episode.load(acquire) == episode);
  return true;
}

template <class Memory>
bool virtual_ranks<Memory>::meet(basic_member<Memory>& me) {
  return meet(me, [&] { return me.sync_->meet(me.thread()); });
}

template <class Memory>
template <class T>
const compact_values& virtual_ranks<Memory>::post(basic_member<Memory>& me, const T& value) {
  me.turn_ = 1 - me.turn_;
  compact_values& values = values_[me.turn_];
  values.put(me.rank(), value);
  return values;
}

template <class Memory>
template <class Op, class T>
T virtual_ranks<Memory>::reduce(basic_member<Memory>& me, const Op& op, const T& value) {
  const compact_values& values = post(me, value);
  thread_group& mine = groups_[me.thread()];
  // The last rank of each thread calls it for all ranks of the thread.
  const auto for_all = [&] {
    T result{};
    if (are_subtrees_) {
      const T of_thread = this->template fold_of_thread<T>(values, me.thread(), op);
      if (!me.sync_->all(me.thread(), of_thread, op, result)) return false;
    } else {
      if (!me.sync_->meet(me.thread())) return false;
      result = schedule::fold(0, me.size(), values.get<T>(), op);
    }
    mine.result = result;
    return true;
  };
  if (!meet(me, for_all)) throw region_cancelled();
  return static_cast<T>(mine.result);
}

template <class Memory>
template <class V, class Combine, class T>
const T& virtual_ranks<Memory>::combine(basic_member<Memory>& me, const V& value,
                                        const Combine& combine, T& of_all) {
  const compact_values& places = post(me, &value);
  thread_group& mine = groups_[me.thread()];
  const auto once = [&] {
    if (!me.sync_->meet(me.thread())) return false;
    of_all = combine(places.get<const V*>());
    mine.result = static_cast<const T*>(&of_all);
    return true;
  };
  if (!meet(me, once)) throw region_cancelled();
  return *static_cast<const T*>(mine.result);
}

}  // namespace tutti::detail
