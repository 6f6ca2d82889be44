// SPDX-License-Identifier: Apache-2.0
// Whether a host looks at its completion word before it blocks. Looking ends a wait sooner, unless
// the wait is long, or other processes use this CPU: then it costs processor time, and a yield may
// cost a time slice of the scheduler. So a host learns from its last waits:
//   * After looks in vain it blocks at once, for as many waits as the looks have cost in wake-ups;
//     if looks are in vain again then, for twice as many.
//   * When as many waits in a row have ended by looking, that is forgotten.
// It learns in the same way whether it yields while it looks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tutti::network {

class looks {
 public:
  // What a wake-up costs.
  static constexpr std::chrono::nanoseconds wake_up{50'000};
  // The most waits that block without a look.
  static constexpr std::uint32_t longest_rest = 256;

  // Whether the next wait looks.
  bool are_next() noexcept {
    if (rest_ == 0) return true;
    --rest_;
    return false;
  }
  void were_enough() noexcept {
    if (last_rest_ == 0 || ++in_a_row_ < last_rest_) return;
    last_rest_ = in_a_row_ = 0;
  }
  void were_in_vain(std::chrono::nanoseconds lost) noexcept {
    const auto wake_ups = static_cast<std::uint64_t>(lost / wake_up);
    const std::uint64_t longer = std::max<std::uint64_t>({1, wake_ups, 2 * last_rest_});
    rest_ = last_rest_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(longer, longest_rest));
    in_a_row_ = 0;
  }

 private:
  std::uint32_t rest_ = 0, last_rest_ = 0, in_a_row_ = 0;
};

}  // namespace tutti::network
