// SPDX-License-Identifier: Apache-2.0
// Pair reduction: two participants share one cache line. The first to arrive writes its value and
// increments the count. The second finds that value on the line that it needs anyway, combines the
// two, writes the result beside the count and goes on without waiting.
//
// Cost       one transfer of one line per episode, as for the ticket barrier with two participants.
//            The reduction costs nothing more as long as three values and a count fit into a line
//            (16 bytes per value).
// When       two participants, also on one core.
// When not   more than two participants.
// Source     barrier/ticket.hpp, with the value on the line of the count.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot has the meaning that it has for exchange_reduction.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class pair_reduction {
 public:
  // Throws std::invalid_argument unless `participants` is 2.
  explicit pair_reduction(rank_t participants = 2) : locals_(2), wait_(2) {
    require(participants == 2, "a pair has two participants");
  }

  // Does what exchange_reduction::all does. The ranks are 0 and 1.
  template <class T, class Combine, class Deadline = no_deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    // The number of arrivals before this episode. It wraps around.
    const std::uint32_t before = 2 * me.episode++;
    // The other reads it only after I have incremented the count, and it no longer needs an older
    // one. The store also fetches the line for writing at once, instead of first for reading.
    line_.value[rank] = mine;
    // acquire: pairs with the first's arrival, if it has arrived, and makes its value visible.
    std::uint32_t seen = line_.arrivals.load(Memory::order("pair.look", acquire));
    if (seen == before && try_to_be_first(seen, before))
      return wait_for_second(me, before + 2, result, deadline);
    const T other = static_cast<T>(line_.value[1 - rank]);
    result = rank == 0 ? combine(mine, other) : combine(other, mine);
    // The first has already read the previous result, because it has arrived again since.
    line_.result = result;
    // seq_cst: release publishes the result and the work of both; the total order puts it before
    // the check for sleepers.
    line_.arrivals.fetch_add(1, Memory::order("pair.second", seq_cst));
    wait_.notify_ordered(line_.arrivals);
    return true;
  }

  static constexpr rank_t participants() noexcept { return 2; }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  // Returns true if the caller arrives first. It repeats the weak compare-and-swap, which may fail
  // for no reason, because a failure must mean that the other has arrived.
  bool try_to_be_first(std::uint32_t& seen, std::uint32_t before) noexcept {
    while (seen == before)
      // acq_rel: release publishes my value and work to the second.
      // acquire: a failure has seen the first's arrival, and I am about to read its value.
      if (line_.arrivals.compare_exchange_weak(seen, before + 1,
                                               Memory::order("pair.first", acq_rel),
                                               Memory::order("pair.second_look", acquire)))
        return true;
    return false;
  }

  template <class T, class Deadline>
  bool wait_for_second(participant<Wait>& me, std::uint32_t all, T& result, Deadline deadline) {
    // Pauses before the first poll. The second does more on the line than an arrival at a barrier,
    // and then arrives as the first of the next episode. A poll before that would take the line
    // away from it (for two doubles an episode then takes 200 ns instead of 115).
    Memory::relax();
    Memory::relax();
    // acquire: pairs with the second's arrival.
    if (!wait_.until(
            me.wait_state, line_.arrivals, Memory::order("pair.wait", acquire),
            [all](std::uint32_t arrivals) noexcept {
              return static_cast<std::int32_t>(arrivals - all) >= 0;
            },
            deadline))
      return false;
    result = static_cast<T>(line_.result);
    return true;
  }

  struct alignas(cache_line) line {
    typename Memory::template atomic<std::uint32_t> arrivals{0};
    typename Memory::template plain<Slot> value[2]{};
    typename Memory::template plain<Slot> result{};
  };

  line line_;
  array<participant<Wait>> locals_;
  Wait wait_;
};

}  // namespace tutti
