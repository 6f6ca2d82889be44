// SPDX-License-Identifier: Apache-2.0
// How many participants have dropped out of a barrier, and in which phase the last ones did: those of earlier phases
// do not come any more, those of the present one still count in it.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti {

template <class Memory>
class drops {
 public:
  // I drop out in `phase`, which cannot end before my last arrival.
  void note(std::uint64_t phase) noexcept {
    change([phase](state s) { return state{s.before(phase), s.in(phase) + 1, low(phase)}; });
  }

  // Participants that dropped out before `phase`. For one who has arrived in it, or may.
  rank_t before(std::uint64_t phase) noexcept {
    // relaxed: all who dropped before the phase did so before their last arrivals, which mine follows.
    const state seen = unpack(word_.load(relaxed));
    // Added up at once, as the half of a phase's number that is kept comes round again.
    if (low(phase) != seen.phase && seen.last > 0)
      change([phase](state s) { return state{s.before(phase), s.in(phase), low(phase)}; });
    return seen.before(phase);
  }

 private:
  struct state {
    rank_t earlier = 0;       // dropped out before `phase`
    rank_t last = 0;          // and in it
    std::uint32_t phase = 0;  // its low half

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
    // relaxed: published by the arrival that follows.
    while (!word_.compare_exchange_weak(seen, pack(next(unpack(seen))), relaxed, relaxed)) {
    }
  }

  typename Memory::template atomic<std::uint64_t> word_{0};
};

}  // namespace tutti
