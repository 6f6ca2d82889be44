// SPDX-License-Identifier: Apache-2.0
// Counts the participants that have dropped out of a barrier, and remembers in which phase the last
// of them dropped out. Those that dropped out in earlier phases no longer arrive; those that drop
// out in the present phase still count in it.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti {

template <class Memory>
class drops {
 public:
  // Records that the caller drops out in `phase`, which cannot end before the caller's last
  // arrival.
  void note(std::uint64_t phase) noexcept {
    change([phase](state s) { return state{s.before(phase), s.in(phase) + 1, low(phase)}; });
  }

  // The counts as a participant sees them before it arrives.
  class seen_by_arrival {
    friend drops;
    explicit seen_by_arrival(std::uint64_t word) noexcept : word_(word) {}
    std::uint64_t word_;
  };
  // Only a participant that has not arrived in the present phase may call it: then all who dropped
  // out did so in this phase or before. Once it has arrived, the phase may end, and others may drop
  // out in the next one.
  // relaxed: a participant drops out before its last arrival, and mine follows the last arrivals of
  // all that dropped out before the phase.
  seen_by_arrival look() const noexcept { return seen_by_arrival(word_.load(relaxed)); }

  // Returns the number of participants that dropped out before `phase`, by what the caller saw
  // before it arrived in this phase. If it is not 0, the phase must not end before the call does.
  rank_t before(std::uint64_t phase, seen_by_arrival look) noexcept {
    const state seen = unpack(look.word_);
    const rank_t dropped = seen.before(phase);
    // The counts are added up at once, because the half of the phase number that is kept wraps
    // around.
    if (low(phase) != seen.phase && seen.last > 0)
      change([phase](state s) { return state{s.before(phase), s.in(phase), low(phase)}; });
    return dropped;
  }

 private:
  struct state {
    // How many dropped out before `phase`.
    rank_t earlier = 0;
    // How many dropped out in `phase`.
    rank_t last = 0;
    // The low half of the phase number.
    std::uint32_t phase = 0;

    rank_t before(std::uint64_t p) const noexcept {
      return phase == low(p) ? earlier : earlier + last;
    }
    rank_t in(std::uint64_t p) const noexcept { return phase == low(p) ? last : 0; }
  };

  static std::uint32_t low(std::uint64_t phase) noexcept {
    return static_cast<std::uint32_t>(phase);
  }
  // Counts of participants fit in 16 bits (striped_barrier::counter_max).
  static std::uint64_t pack(state s) noexcept {
    return std::uint64_t{s.phase} << 32 | std::uint64_t{s.earlier} << 16 | s.last;
  }
  static state unpack(std::uint64_t word) noexcept {
    return {static_cast<rank_t>(word >> 16 & 0xffff), static_cast<rank_t>(word & 0xffff),
            static_cast<std::uint32_t>(word >> 32)};
  }

  template <class Next>
  void change(Next next) noexcept {
    // relaxed: the compare-and-swap decides.
    std::uint64_t seen = word_.load(relaxed);
    // relaxed: the arrival that follows publishes it; a failure only tries again.
    while (!word_.compare_exchange_weak(seen, pack(next(unpack(seen))), relaxed, relaxed)) {
    }
  }

  typename Memory::template atomic<std::uint64_t> word_{0};
};

}  // namespace tutti
