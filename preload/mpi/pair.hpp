// SPDX-License-Identifier: Apache-2.0
// The barrier of two ranks: a ticket barrier (tutti/barrier/ticket.hpp) that has the ranks' short
// values on the line of its counter, so that a reduction moves no other line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti::preload {

template <class Wait>
class pair {
 public:
  // The bytes of a value on the line.
  static constexpr std::size_t most_bytes = 8;

  explicit pair(rank_t participants) : wait_(participants) {}

  // The value of a rank, of which there are two generations.
  std::byte* value(std::uint32_t generation, rank_t rank) noexcept {
    return line_.values[generation][rank];
  }

  // Arrives in an episode, which counts from 1. Returns true if the other rank has arrived before;
  // then the episode is over, and whoever sleeps must be woken.
  bool arrive(std::uint64_t episode) noexcept {
    // seq_cst: acquire and release pass what both ranks wrote from arrival to arrival; the total
    // order also puts the last arrival before the check for sleepers.
    return line_.arrivals.fetch_add(1, seq_cst) + 1 == arrivals_of(episode);
  }
  // Whether the other rank sleeps. This rank has arrived as the last one.
  bool is_asleep() const noexcept {
#if !defined(__x86_64__)
    // seq_cst: puts the arrival before the look in the total order; pairs with the fence of
    // whoever is about to sleep. On x86 the arrival is a fence itself.
    platform::fence(seq_cst);
#endif
    return wait_.asleep() != 0;
  }
  void wake() noexcept { wait_.notify_ordered(line_.arrivals); }
  // The rank that has arrived first waits for the other. Returns false if the deadline has passed;
  // it may wait again.
  template <class Deadline>
  bool wait(std::uint64_t episode, typename Wait::wait_state& mine, Deadline until) noexcept {
    const std::uint64_t all = arrivals_of(episode);
    // acquire: pairs with the other's arrival.
    return wait_.until(
        mine, line_.arrivals, acquire,
        [all](std::uint64_t arrivals) noexcept { return arrivals >= all; }, until);
  }

  void set_patience(patience p) noexcept { wait_.set_patience(p); }

 private:
  // The number of arrivals with which the episode ends.
  static constexpr std::uint64_t arrivals_of(std::uint64_t episode) noexcept { return 2 * episode; }

  struct alignas(cache_line) line {
    std::atomic<std::uint64_t> arrivals{0};
    std::byte values[2][2][most_bytes] = {};
  };

  line line_;
  Wait wait_;
};

}  // namespace tutti::preload
