// SPDX-License-Identifier: Apache-2.0
// How long the waits of one side have been of late, and for how long it therefore pays to keep the processor before
// sleeping. Arithmetic alone: no clock, no atomics.
//
// A wait of length L that is polled through costs L of processor time. One that is slept through costs a wake-up, to
// whoever comes last. With wake-ups priced at W, and lengths that come again as they were of late, the threshold t with the
// least expected cost
//     sum over waits no longer than t of their length + sum over longer ones of (t + W)
// is the best that any waiter can do who does not know how long this wait will be. t is never more than W or so: the
// waiter that knew everything in advance would pay at most W, and one with a threshold of W pays at most twice that.
//
// Source     ski rental with a known distribution: Karlin, Li, Manasse and Owicki 1991, section 4.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti {

class wait_lengths {
 public:
  // Before anything is known: a sleep with its wake-up on the machines tried, 20 to 50 us.
  static constexpr std::uint32_t unknown_budget_ns = 50'000;

  void add(std::uint32_t length_ns) noexcept {
    // A wait weighs as much as the seven before it together lose: what is eight waits old counts a third.
    constexpr unsigned fresh = 28;
    for (std::uint8_t& w : weights_) w = static_cast<std::uint8_t>(w - (w + 7) / 8);
    unsigned i = 0;
    while (i < buckets && length_ns > upper_ns[i]) ++i;
    weights_[i] = static_cast<std::uint8_t>(weights_[i] + fresh);
  }

  // Until when to poll if a sleep is as bad as polling for `sleep_cost_ns`. 0: sleep at once.
  std::uint32_t budget_ns(std::uint32_t sleep_cost_ns) const noexcept {
    std::uint32_t longer = 0;  // weight of the waits beyond the threshold
    for (const std::uint8_t w : weights_) longer += w;
    if (longer == 0) return unknown_budget_ns;
    std::uint64_t polled = 0, least = std::uint64_t{longer} * sleep_cost_ns;
    std::uint32_t best = 0;
    for (unsigned i = 0; i < buckets; ++i) {
      if (weights_[i] == 0) continue;
      longer -= weights_[i];
      // The middle of a bucket is 0.84 times its upper end.
      polled += std::uint64_t{weights_[i]} * (upper_ns[i] / 64 * 54);
      const std::uint64_t cost = polled + std::uint64_t{longer} * (upper_ns[i] + sleep_cost_ns);
      if (cost >= least) continue;
      least = cost;
      best = upper_ns[i];
    }
    return best;
  }

  static constexpr std::uint32_t longest_budget_ns() noexcept { return upper_ns[buckets - 1]; }

 private:
  static constexpr unsigned buckets = 12;
  // A factor of the square root of 2 apart; beyond the last one polling never pays.
  static constexpr std::uint32_t upper_ns[buckets] = {8'000,   11'300,  16'000,  22'600,
                                                      32'000,  45'200,  64'000,  90'500,
                                                      128'000, 181'000, 256'000, 330'000};
  std::uint8_t weights_[buckets + 1]{};
};

}  // namespace tutti
