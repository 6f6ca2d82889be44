// SPDX-License-Identifier: Apache-2.0
// Counts the threads that sleep and that nobody has woken. A thread that has been woken counts
// among the sleepers (sleepers.hpp) until it runs, although it is ready to run, as the system's
// count of tasks says.
//
// Each sleep gets a number. The kernel wakes threads in the order in which they fell asleep, so if
// one whose wait is over runs again, those with lower numbers have been woken as well.
//
// Thread-safe. All values are hints, which publish nothing: a count may be out of date.
#pragma once

#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/minmax.hpp"

namespace tutti {

template <class Memory>
class unwoken_sleepers {
 public:
  // Call this before a sleep. Returns its number.
  std::uint32_t begin() noexcept {
    // relaxed: a hint.
    return last_.fetch_add(1, relaxed) + 1;
  }
  // Call this after a sleep that has not ended because of a deadline.
  void end(std::uint32_t number) noexcept {
    // relaxed: a hint. A lost update makes the count too large until the next sleep ends.
    if (static_cast<std::int32_t>(number - woken_.load(relaxed)) > 0) woken_.store(number, relaxed);
  }
  // Returns how many of `asleep` sleepers, some of which may have been woken, nobody has woken.
  std::uint32_t among(std::uint32_t asleep) const noexcept {
    // relaxed: both are hints.
    return smaller(asleep, last_.load(relaxed) - woken_.load(relaxed));
  }

 private:
  typename Memory::template setting<std::uint32_t> last_{0}, woken_{0};
};

}  // namespace tutti
