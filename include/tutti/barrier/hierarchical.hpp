// SPDX-License-Identifier: Apache-2.0
// Hierarchical barrier: the ranks that share a cache count their arrivals on a counter of their
// group. The leaders of the groups synchronise by a dissemination barrier. Each leader then
// releases its group with one word that stays in the group's cache.
//
// Cost       one fetch_add per rank inside its group, ceil(log2 groups) slow transfers, and one
//            store per group.
// When       several sockets, NUMA nodes or core complexes with a cache each, because few cache
//            lines cross the slow link.
// When not   one shared cache, or ranks that are not numbered along the machine.
// Source     Rodchenko, Nisbet, Pop and Luján 2015 for the form. hwloc supplies the groups.
#pragma once

#include "tutti/barrier/dissemination.hpp"
#include "tutti/schedule/hierarchy.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<Memory>>
class hierarchical_barrier {
 public:
  // `groups` holds the sizes of the groups that share a cache, e.g.
  // platform::cache_groups(participants). Throws std::invalid_argument if a size is 0.
  template <class Sizes>
  explicit hierarchical_barrier(const Sizes& groups)
      : hierarchy_(groups),
        locals_(hierarchy_.participants()),
        groups_(hierarchy_.groups()),
        leaders_(hierarchy_.groups()),
        wait_(hierarchy_.participants()) {}

  // Arrives as `rank`, 0 .. participants()-1, and returns true when all have arrived. Returns false
  // if the deadline passed; this rank must not use the barrier again then. The rank is not checked,
  // and one thread at a time may use it.
  template <class Deadline = no_deadline>
  bool arrive_and_wait(rank_t rank, Deadline deadline = {}) {
    participant<Wait>& me = locals_[rank];
    const std::uint32_t episode = ++me.episode;
    const rank_t number = hierarchy_.group(rank);
    counted_arrivals<Memory>& mine = groups_[number];
    if (!hierarchy_.is_leader(rank)) {
      // seq_cst: release publishes my work, and acquire passes on that of earlier members; the
      // total order puts the count before the check for a sleeping leader.
      mine.arrived.fetch_add(1, Memory::order("hierarchical.arrive", seq_cst));
      wait_.notify_ordered(mine.arrived);
      // acquire: pairs with the leader's release.
      return wait_.until(me.wait_state, mine.released, Memory::order("hierarchical.wait", acquire),
                         reached(episode), deadline);
    }
    // The count is never reset. It wraps around, and so does the target.
    const std::uint32_t all = episode * (hierarchy_.size(number) - 1);
    // acquire: pairs with every member's arrival through the counter's release sequence.
    if (!wait_.until(me.collecting, mine.arrived, Memory::order("hierarchical.collect", acquire),
                     reached(all), deadline))
      return false;
    if (!leaders_.arrive_and_wait(number, deadline)) return false;
    // release: publishes the work of all, which the leaders have exchanged; pairs with the members'
    // waits.
    mine.released.store(episode, Memory::order("hierarchical.release", release));
    wait_.notify(mine.released);
    return true;
  }

  rank_t participants() const noexcept { return hierarchy_.participants(); }
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // false if the wait policy has no patience.
  bool set_patience(patience p) noexcept {
    // The waits inside the groups, and those among the leaders.
    const bool is_set_inside = set_patience_of(wait_, p);
    return leaders_.set_patience(p) && is_set_inside;
  }

 private:
  schedule::hierarchy hierarchy_;
  array<participant<Wait>> locals_;
  array<counted_arrivals<Memory>> groups_;
  dissemination_barrier<Memory, Wait> leaders_;
  Wait wait_;
};

}  // namespace tutti
