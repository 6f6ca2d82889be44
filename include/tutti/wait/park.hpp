// SPDX-License-Identifier: Apache-2.0
// Waits by polling for a short time and then sleeping in the kernel. The core becomes free, but a
// partner that comes later than the last poll pays for a wake-up: 7 to 50 us on the machines tried,
// most of it the exit latency of the idle core.
#pragma once

#include <atomic>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/sleepers.hpp"

namespace tutti {

template <class Memory = native, int Polls = 100>
class park_wait {
 public:
  struct wait_state {};
  explicit park_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    for (int poll = 0; poll < Polls; ++poll) {
      if (ready(word.load(order))) return true;
      Memory::relax();
    }
    return sleepers_.sleep(word, order, ready, deadline);
  }

  template <class Word>
  void notify(const Word& word) noexcept {
    sleepers_.wake_after_store(word);
  }
  template <class Word>
  void notify_ordered(const Word& word) noexcept {
    sleepers_.wake_after_update(word);
  }

  // Wakes one waiter, after a plain store that concerns only one.
  template <class Word>
  void notify_one(const Word& word) noexcept {
    sleepers_.wake_one_after_store(word);
  }
  // Returns how many waiters sleep. The number may be out of date when it is returned.
  std::uint32_t asleep() const noexcept { return sleepers_.asleep(); }

 private:
  sleepers<Memory> sleepers_;
};

}  // namespace tutti
