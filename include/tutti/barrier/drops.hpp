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

  // Returns the number of participants that dropped out before `phase`. Only a participant that has
  // arrived in `phase`, or may arrive in it, may call it.
  rank_t before(std::uint64_t phase) noexcept {
    // relaxed: a participant drops out before its last arrival, and mine follows the last arrivals
    // of all that dropped out before the phase.
    const state seen = unpack(word_.load(relaxed));
    // The counts are added up at once, because the half of the phase number that is kept wraps
    // around.
    if (low(phase) != seen.phase && seen.last > 0)
      change([phase](state s) { return state{s.before(phase), s.in(phase), low(phase)}; });
    return seen.before(phase);
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
