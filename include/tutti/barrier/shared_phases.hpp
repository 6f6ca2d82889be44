// SPDX-License-Identifier: Apache-2.0
// The word on which the participants of a shared_barrier meet. It may lie in memory that processes
// share, and stays sound if any of them is killed between any two instructions.
//
// One 64-bit word holds everything that an arrival decides on: the number of the phase, how many
// participants it expects, how many have arrived, and whether the barrier is broken because a
// participant has died. Each change is one compare-and-swap. So a phase has either ended for all
// participants or for none of them, and all agree on which one was the last.
//
// Cost       one compare-and-swap for an arrival, repeated under contention, on one cache line.
// When       participants that may die or leave: processes.
// When not   threads of one process, which tutti::barrier serves with one fetch_add.
// Source     Hetland et al. 2019, section 2: the pool barrier of its figures has such a word.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/patience.hpp"

namespace tutti {

template <class Memory, class Wait>
class shared_phases {
 public:
  using wait_state = typename Wait::wait_state;
  enum class outcome : std::uint8_t { ended, late, broken };

  // The participant because of which the barrier is broken, or none: number 0 is no process.
  struct casualty {
    rank_t rank = 0;
    std::int32_t process = 0;
  };

  static constexpr rank_t most_participants = 0x7fff;
  // Phases are counted from 0, modulo this.
  static constexpr std::uint32_t phases = std::uint32_t{1} << 31;

  explicit shared_phases(rank_t participants) noexcept
      : word_(state{0, false, 0, participants}.packed()), wait_(participants) {}

  // Arrives in the present phase, whose number it stores. Returns false if the barrier is broken:
  // the arrival does not count then, and a wait for the phase returns `broken`.
  bool arrive(std::uint32_t& phase) noexcept {
    // seq_cst: acquire and release pass the work of all from arrival to arrival; the total order
    // also puts the end of a phase before the check for sleepers.
    return change(
        [&](state s) {
          phase = s.phase;
          ++s.arrived;
          return s;
        },
        Memory::order("shared.arrive", seq_cst));
  }

  // Ends the caller's part in the barrier: this phase no longer expects it, nor do later ones. It
  // may have arrived in the phase `arrived_in`, if `has_arrived`, without waiting for its end.
  void leave(bool has_arrived, std::uint32_t arrived_in) noexcept {
    // seq_cst: see arrive().
    change(
        [=](state s) {
          --s.expected;
          if (has_arrived && s.phase == arrived_in) --s.arrived;
          return s;
        },
        Memory::order("shared.leave", seq_cst));
  }

  // Waits until `phase` has ended or the barrier is broken.
  template <class Deadline = no_deadline>
  outcome wait(std::uint32_t phase, wait_state& mine, Deadline deadline = {}) noexcept {
    state seen{};
    // acquire: pairs with the arrivals of the phase through the release sequence of the word, and
    // with break_for, which tells who has died.
    const bool is_over = wait_.until(
        mine, word_, Memory::order("shared.wait", acquire),
        [&seen, phase](std::uint64_t now) noexcept {
          seen = state::of(now);
          return seen.phase != phase || seen.is_broken;
        },
        deadline);
    if (!is_over) return outcome::late;
    return seen.phase != phase ? outcome::ended : outcome::broken;
  }

  // Breaks the barrier, because `rank` of `process` has died, and wakes all sleepers. The first of
  // several reports counts. The process that reports may itself be killed on the way: whoever
  // reports next finishes its work.
  void break_for(rank_t rank, std::int32_t process) noexcept {
    std::uint64_t nobody = 0;
    const std::uint64_t died = std::uint64_t{rank} << 32 | static_cast<std::uint32_t>(process);
    // relaxed: the update of the word below publishes it. One that fails has read the first report.
    while (nobody == 0 && !died_.compare_exchange_weak(nobody, died, relaxed, relaxed)) {
    }
    // seq_cst: release publishes who has died; the total order also puts the update before the
    // check for sleepers.
    word_.fetch_or(state::broken_bit, Memory::order("shared.break", seq_cst));
    wait_.notify_ordered(word_);
  }

  bool is_broken() const noexcept {
    // acquire: pairs with break_for, so that died() tells who it was.
    return state::of(word_.load(Memory::order("shared.look", acquire))).is_broken;
  }
  // Call it after is_broken() or `broken`.
  casualty died() const noexcept {
    // relaxed: the caller has seen the update of the word that published it.
    const std::uint64_t word = died_.load(relaxed);
    return {static_cast<rank_t>(word >> 32), static_cast<std::int32_t>(word)};
  }

  // The phase, and how many arrivals it lacks: snapshots for messages.
  std::uint32_t phase() const noexcept { return now().phase; }
  rank_t missing(std::uint32_t phase) const noexcept {
    const state seen = now();
    return seen.phase != phase ? 0 : seen.expected - seen.arrived;
  }
  // The number of participants that have not left.
  rank_t expected() const noexcept { return now().expected; }

  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

 private:
  // A futex compares the low half of the word, so that half holds what ends a wait: the phase and
  // whether the barrier is broken.
  struct state {
    std::uint32_t phase = 0;
    bool is_broken = false;
    rank_t arrived = 0, expected = 0;

    static constexpr std::uint64_t broken_bit = 1;
    static constexpr state of(std::uint64_t word) noexcept {
      return {static_cast<std::uint32_t>(word) >> 1, (word & broken_bit) != 0,
              static_cast<rank_t>(word >> 32 & 0xffff), static_cast<rank_t>(word >> 48)};
    }
    constexpr std::uint64_t packed() const noexcept {
      return std::uint64_t{expected} << 48 | std::uint64_t{arrived} << 32 |
             std::uint64_t{phase} << 1 | (is_broken ? broken_bit : 0);
    }
  };

  state now() const noexcept {
    // relaxed: a snapshot.
    return state::of(word_.load(relaxed));
  }

  // Applies `next` to the state, unless the barrier is broken, and ends the phase if it was the
  // last change that the phase needed.
  template <class Next>
  bool change(Next next, std::memory_order order) noexcept {
    // relaxed: the compare-and-swap decides.
    std::uint64_t seen = word_.load(relaxed);
    for (;;) {
      if (state::of(seen).is_broken) {
        next(state::of(seen));
        return false;
      }
      state after = next(state::of(seen));
      const bool is_last = after.arrived == after.expected;
      if (is_last) after = {(after.phase + 1) % phases, false, 0, after.expected};
      // relaxed: a failure only tries again.
      if (word_.compare_exchange_weak(seen, after.packed(), order, relaxed)) {
        if (is_last) wait_.notify_ordered(word_);
        return true;
      }
    }
  }

  alignas(cache_line) typename Memory::template atomic<std::uint64_t> word_;
  alignas(cache_line) typename Memory::template atomic<std::uint64_t> died_{0};
  Wait wait_;
};

}  // namespace tutti
