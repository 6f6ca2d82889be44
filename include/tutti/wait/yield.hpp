// SPDX-License-Identifier: Apache-2.0
// Waits by giving the core to other threads that can run. This policy is the best if participants
// share cores: an episode of n threads on c cores costs n/c context switches, and waking a sleeper
// costs more than that. It keeps the core busy through long waits. Beside a busy thread of another
// process each yield can cost that thread's whole time slice.
#pragma once

#include <atomic>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

template <class Memory = native>
class yield_wait {
 public:
  struct wait_state {};
  explicit yield_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    // A partner that is running answers within a few line transfers, and these polls take less time
    // than one yield.
    for (int poll = 0; poll < polls_before_yield; ++poll) {
      if (ready(word.load(order))) return true;
      Memory::relax();
    }
    while (!ready(word.load(order))) {
      if (deadline.template passed<Memory>()) return false;
      Memory::yield();
    }
    return true;
  }

  template <class Word>
  void notify(const Word&) noexcept {}
  template <class Word>
  void notify_ordered(const Word&) noexcept {}

 private:
  static constexpr int polls_before_yield = 8;
};

}  // namespace tutti
