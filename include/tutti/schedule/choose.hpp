// SPDX-License-Identifier: Apache-2.0
// Which algorithm for how many participants: all choices that tutti makes if the program names
// none. `crowded` says that there are more participants than CPUs that they may use; every caller
// compares with the CPUs that its memory policy reports.
//
// One counter costs a transfer of its line for each participant. Levels cost more transfers, but
// their counters are on different lines. The numbers are those that take the least time on
// simulated machines (docs/simulated-choices.md). If participants share few CPUs, the switches
// between them cost more than any transfer, and an algorithm with one word needs the fewest.
#pragma once

#include <string_view>

#include "tutti/platform/config.hpp"

namespace tutti::choose {

// The largest number of participants for which a barrier with one counter is faster than several.
inline constexpr rank_t few_on_one_counter = 4;
// The number of participants, or of counters below it, that share a counter of a tree.
inline constexpr rank_t fan_of_counters = 4;
// The number of threads for which one thread of a team opens a region, itself included.
inline constexpr rank_t fan_of_regions = 8;
// The largest number of participants for which reading a line of each is faster than a tree.
inline constexpr rank_t few_to_read_all = 8;
// The largest number of participants for which one counter of idle participants is faster than
// a line for each.
inline constexpr rank_t few_idle_on_one_counter = 8;

// The least number of CPUs for which a barrier of threads that share them is faster on several
// counters: 32 threads on 16 CPUs take 7.6 us with one counter and 3.5 us with several.
inline constexpr std::uint32_t many_cpus = 8;

constexpr bool is_crowded(rank_t participants, std::uint32_t cpus) noexcept {
  return participants > cpus;
}

// Whether a barrier should keep to one counter although it has many participants.
constexpr bool is_crowded_on_few(rank_t participants, std::uint32_t cpus) noexcept {
  return cpus < many_cpus && is_crowded(participants, cpus);
}

// An entry of registry::algorithms. `crowded` is what is_crowded_on_few tells. `few` replaces
// few_on_one_counter.
constexpr std::string_view barrier(rank_t participants, bool crowded,
                                   rank_t few = few_on_one_counter) noexcept {
  return participants <= few || crowded ? "ticket" : "striped";
}

// An entry of registry::reductions. `small` says that the values fit the line of a pair. `apart`
// says that participants do other work between two operations, such as switching between virtual
// ranks, so that they do not arrive one right after the other.
constexpr std::string_view reduction(rank_t participants, bool crowded, bool small,
                                     bool apart = false) noexcept {
  if (participants == 2 && small && !apart) return "pair";
  if (crowded) return "counted";
  return apart || participants > few_to_read_all ? "tree" : "exchange";
}

// An entry of registry::detectors.
constexpr std::string_view detector(rank_t participants, bool crowded) noexcept {
  return participants <= few_idle_on_one_counter || crowded ? "counter" : "snapshot";
}

}  // namespace tutti::choose
