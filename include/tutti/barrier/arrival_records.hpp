// SPDX-License-Identifier: Apache-2.0
// What tutti::barrier remembers of each rank: its state, and in how many phases it has arrived.
// Reports of misuse (misuse_checks.hpp) and of late ranks (deadline_calls.hpp) read the number; no
// participant waits for it.
// Hosted only: its records are on the heap.
#pragma once

#include <cstdint>

#include "tutti/barrier/rank_records.hpp"
#include "tutti/platform/config.hpp"

namespace tutti {

template <class Memory, class State>
struct arrival_record {
  State mine{};

  // Returns the number of the phase after the last one in which the rank has arrived: 0 if it has
  // arrived in none, and `dropped` if it has dropped out.
  std::uint64_t arrivals() const noexcept {
    // relaxed: a snapshot for messages, or the rank's own value.
    return phases_arrived_.load(relaxed);
  }
  bool has_dropped() const noexcept { return arrivals() == dropped; }
  // Returns true if the last arrival of the rank was in this phase.
  bool is_last_arrival_in(std::uint64_t phase) const noexcept { return arrivals() == phase + 1; }
  // Returns true if the phase does not lack the rank: it has arrived in this phase or in a later
  // one, or it has dropped out. Compares by a 32-bit difference, because the phases of striped
  // counters wrap around at 32 bits; so the answer is wrong for a rank that arrived before, but
  // has not done so for 2^31 phases.
  bool has_arrived(std::uint64_t phase) const noexcept {
    const std::uint64_t now = arrivals();
    const auto after = static_cast<std::int32_t>(static_cast<std::uint32_t>(now - phase));
    return now == dropped || (now != 0 && after > 0);
  }

  // Only the rank itself calls these.
  void note_arrival(std::uint64_t phase) noexcept {
    // relaxed: others read it for messages only.
    phases_arrived_.store(phase + 1, relaxed);
  }
  void note_drop() noexcept {
    // relaxed: others read it for messages only.
    phases_arrived_.store(dropped, relaxed);
  }

 private:
  static constexpr std::uint64_t dropped = ~std::uint64_t{0};
  typename Memory::template atomic<std::uint64_t> phases_arrived_{0};
};

template <class Memory, class State>
class arrival_records : public rank_records<Memory, arrival_record<Memory, State>> {
 public:
  using rank_records<Memory, arrival_record<Memory, State>>::rank_records;

  // Calls report(rank) for each rank that has not arrived in the phase, in ascending order, or for
  // none if no participant has arrived with a rank.
  template <class Report>
  void each_missing(std::uint64_t phase, Report report) const {
    bool has_ranks = false;
    this->for_each([&](rank_t, const auto& record) { has_ranks |= record.arrivals() > 0; });
    if (!has_ranks) return;
    this->for_each([&](rank_t rank, const auto& record) {
      if (!record.has_arrived(phase)) report(rank);
    });
  }
};

}  // namespace tutti
