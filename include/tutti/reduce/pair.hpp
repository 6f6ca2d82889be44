// SPDX-License-Identifier: Apache-2.0
// Pair: two participants, one line. The first to come leaves its value and counts itself; the second finds the value
// on the line that it needs anyway, combines, leaves the result beside the count and goes on without waiting.
//
// Cost       one handover of one line an episode, as the ticket barrier for two; nothing more for the reduction while
//            three values and a count fit into a line (16 bytes a value).
// When       two participants, also on one core.
// When not   more than two.
// Source     barrier/ticket.hpp, with the value on the line of the count.
#pragma once

#include "tutti/barrier/participant.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

// Slot as for exchange_reduction.
template <class Slot, class Memory = native, class Wait = adaptive_wait<Memory>>
class pair_reduction {
 public:
  explicit pair_reduction(rank_t participants = 2) : locals_(2), wait_(2) {
    require(participants == 2, "a pair has two participants");
  }

  // As exchange_reduction::all; ranks are 0 and 1.
  template <class T, class Combine, class Deadline = no_deadline>
  bool all(rank_t rank, const T& mine, Combine combine, T& result, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    // Arrivals before this episode, counted from 0; wraps.
    const std::uint32_t before = 2 * me.episode++;
    // Nobody reads it before I count myself, and nobody has to read an older one any more. The store also brings the
    // line here to be written, not first to be read.
    line_.value[rank] = mine;
    // acquire: the first's value, if it has come.
    std::uint32_t seen = line_.arrivals.load(Memory::order("pair.look", acquire));
    if (seen == before && try_to_be_first(seen, before))
      return wait_for_second(me, before + 2, result, deadline);
    const T other = static_cast<T>(line_.value[1 - rank]);
    result = rank == 0 ? combine(mine, other) : combine(other, mine);
    // The first has read the result before this one: it has come again since.
    line_.result = result;
    // seq_cst: release publishes the result and both's work; the one order puts it before the look for sleepers.
    line_.arrivals.fetch_add(1, Memory::order("pair.second", seq_cst));
    wait_.notify_ordered(line_.arrivals);
    return true;
  }

  static constexpr rank_t participants() noexcept { return 2; }
  // May be called at any time by any thread; waits that have begun keep theirs. False: the policy has no patience.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  // A weak compare-and-swap may fail for no reason; the second's way is open only once the first has come.
  bool try_to_be_first(std::uint32_t& seen, std::uint32_t before) noexcept {
    while (seen == before)
      // acq_rel: release hands my value and work to the second.
      // acquire: a failure has seen the first, whose value I am about to read.
      if (line_.arrivals.compare_exchange_weak(seen, before + 1,
                                               Memory::order("pair.first", acq_rel),
                                               Memory::order("pair.second_look", acquire)))
        return true;
    return false;
  }

  template <class T, class Deadline>
  bool wait_for_second(participant<Wait>& me, std::uint32_t all, T& result, Deadline deadline) {
    // The second has more to do on the line than an arrival at a barrier, and then comes as the first of the next episode:
    // a look before that would take the line away from it (two doubles: 200 ns instead of 115).
    Memory::relax();
    Memory::relax();
    // acquire: pairs with the second's arrival.
    if (!wait_.until(
            me.seat, line_.arrivals, Memory::order("pair.wait", acquire),
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
