// SPDX-License-Identifier: Apache-2.0
// Remembers how long the recent waits of one side took, and computes how long it therefore pays to
// keep the processor before sleeping. It is pure arithmetic: no clock, no atomics.
//
// A wait of length L costs L of processor time if the waiter polls through it. If the waiter
// sleeps, it costs a wake-up, for which the others wait. Let W be the price of a wake-up. If future
// lengths have the distribution of the recent ones, the threshold t with the least expected cost
//     sum of the lengths of waits no longer than t + sum of (t + W) over the longer ones
// is the best for a waiter that does not know how long this wait will take. t is hardly ever more
// than W: a waiter that knew all lengths would pay at most W per wait, and a waiter with the
// threshold W pays at most twice as much.
//
// Thread-safety: none; each waiter has its own object.
// Source: Karlin, Li, Manasse and Owicki 1991, section 4 (ski rental with a known distribution).
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti {

class wait_lengths {
 public:
  // The budget before any length is known. A sleep with its wake-up takes 10 to 50 us on the
  // machines tried.
  static constexpr std::uint32_t unknown_budget_ns = 50'000;

  // Adds the length of a wait, in nanoseconds.
  void add(std::uint32_t length_ns) noexcept {
    // Each wait adds as much weight as all earlier ones together lose (an eighth of their weight),
    // so a wait that is eight waits old has a third of its weight left.
    constexpr unsigned fresh = 28;
    for (std::uint8_t& w : weights_) w = static_cast<std::uint8_t>(w - (w + 7) / 8);
    unsigned i = 0;
    while (i < buckets && length_ns > upper_ns[i]) ++i;
    weights_[i] = static_cast<std::uint8_t>(weights_[i] + fresh);
  }

  // Returns how many nanoseconds to poll if a sleep costs as much as polling for `sleep_cost_ns`. 0
  // means to sleep at once.
  std::uint32_t budget_ns(std::uint32_t sleep_cost_ns) const noexcept {
    // The weight of the waits beyond the threshold.
    std::uint32_t longer = 0;
    for (const std::uint8_t w : weights_) longer += w;
    if (longer == 0) return unknown_budget_ns;
    std::uint64_t polled = 0, least = std::uint64_t{longer} * sleep_cost_ns;
    std::uint32_t best = 0;
    for (unsigned i = 0; i < buckets; ++i) {
      if (weights_[i] == 0) continue;
      longer -= weights_[i];
      // The middle of a bucket is about 0.84 times its upper end.
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
  // The upper ends differ by a factor of about the square root of 2. Beyond the last one polling
  // never pays.
  static constexpr std::uint32_t upper_ns[buckets] = {8'000,   11'300,  16'000,  22'600,
                                                      32'000,  45'200,  64'000,  90'500,
                                                      128'000, 181'000, 256'000, 330'000};
  std::uint8_t weights_[buckets + 1]{};
};

}  // namespace tutti
