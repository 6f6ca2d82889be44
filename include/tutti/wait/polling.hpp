// SPDX-License-Identifier: Apache-2.0
// The wait of a policy that only polls, so that nobody has to wake a waiter: spin_wait, yield_wait
// and monitor_wait, which differ in what a thread does between two polls.
#pragma once

#include <atomic>

#include "tutti/platform/native.hpp"
#include "tutti/wait/deadline.hpp"

namespace tutti {

// Returns true as soon as one of `polls` polls finds the word ready.
template <class Memory, class Word, class Ready>
bool is_ready_within(int polls, const Word& word, std::memory_order order, Ready ready) noexcept {
  for (int poll = 0; poll < polls; ++poll) {
    if (ready(word.load(order))) return true;
    Memory::relax();
  }
  return false;
}

// What a thread does between two polls if it need not know the word: it calls `Pause`.
template <void (*Pause)() noexcept>
struct calling_between_polls {
  template <class Word, class Ready>
  static void pause(const Word&, std::memory_order, Ready) noexcept {
    Pause();
  }
};

// `Between::pause(word, order, ready)` is what a thread does between two polls, of which the first
// `Polls` have only a pause between them.
template <class Memory, class Between, int Polls = 0>
class polling_wait {
 public:
  struct wait_state {};
  explicit polling_wait(rank_t /*participants*/) noexcept {}

  template <class Word, class Ready, class Deadline = no_deadline>
  bool until(wait_state&, const Word& word, std::memory_order order, Ready ready,
             Deadline deadline = {}) noexcept {
    if constexpr (Polls > 0)
      if (is_ready_within<Memory>(Polls, word, order, ready)) return true;
    while (!ready(word.load(order))) {
      if (deadline.template passed<Memory>()) return false;
      Between::pause(word, order, ready);
    }
    return true;
  }

  template <class Word>
  void notify(const Word&) noexcept {}
  template <class Word>
  void notify_ordered(const Word&) noexcept {}
};

}  // namespace tutti
