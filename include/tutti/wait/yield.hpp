// SPDX-License-Identifier: Apache-2.0
// Wait by giving the core to whoever else can run. The best when participants share cores: an episode of n
// threads on c cores costs n/c context switches, and nothing that sleeps can be woken for less. It burns the core
// through long waits, and beside a busy process of somebody else each yield can cost that process's whole slice.
#pragma once

#include <atomic>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

template <class Memory = native>
class yield_wait {
 public:
  struct seat {};
  explicit yield_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(seat&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    // A partner that is running answers within a few line transfers: worth these polls, and less than one yield.
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
