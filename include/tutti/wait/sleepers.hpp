// SPDX-License-Identifier: Apache-2.0
// Parking: how a waiter goes to sleep on a word without missing the store that would wake it, while a notifier
// pays one load when nobody sleeps.
//
// The waiter announces itself, then looks at the word a last time (in the kernel). The notifier changes the word,
// then looks for announcements. Sequential consistency puts the two announcements in one order, so at least one
// of the two sees the other.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/native.hpp"

namespace tutti {

template <class Memory = native>
class sleepers {
 public:
  // Sleeps until ready(word) or the deadline; returns which.
  template <class Word, class Ready, class Deadline>
  bool sleep(const Word& word, std::memory_order order, Ready ready, Deadline deadline) noexcept {
    // relaxed: ordered by the fence below.
    count_.fetch_add(1, relaxed);
    // seq_cst: puts the announcement before the last look at the word in the one order; pairs with the fence in
    // wake_after_store, and with the update and the look of wake_after_update.
    Memory::fence("sleepers.announce_fence", seq_cst);
    bool is_ready = false;
    for (;;) {
      const auto seen = word.load(order);
      is_ready = ready(seen);
      if (is_ready || deadline.template passed<Memory>()) break;
      Memory::park(word, seen, deadline.park_ns());
    }
    // relaxed: a late decrement costs a needless wake-up, nothing else.
    count_.fetch_sub(1, relaxed);
    return is_ready;
  }

  // How many sleep, or are about to; a hint.
  std::uint32_t asleep() const noexcept {
    // relaxed: a hint.
    return count_.load(relaxed);
  }

  // After a plain store to the word. Returns true if somebody was woken.
  template <class Word>
  bool wake_after_store(const Word& word) noexcept {
    // seq_cst: orders the store before the look at the announcements; pairs with the fence in sleep.
    Memory::fence("sleepers.wake_fence", seq_cst);
    // relaxed: ordered by the fence above.
    return wake_if(count_.load(relaxed), word);
  }

  // The same, for one of those who sleep on the word.
  template <class Word>
  bool wake_one_after_store(const Word& word) noexcept {
    // seq_cst: as in wake_after_store.
    Memory::fence("sleepers.wake_fence", seq_cst);
    // relaxed: ordered by the fence above.
    if (count_.load(relaxed) == 0) return false;
    Memory::unpark_one(word);
    return true;
  }

  // After a seq_cst read-modify-write of the word, which stands in the one order itself.
  template <class Word>
  bool wake_after_update(const Word& word) noexcept {
    // seq_cst: after the update of the word in the one order; pairs with the fence in sleep.
    return wake_if(count_.load(Memory::order("sleepers.wake_look", seq_cst)), word);
  }

 private:
  template <class Word>
  static bool wake_if(std::uint32_t asleep, const Word& word) noexcept {
    if (asleep == 0) return false;
    Memory::unpark(word);
    return true;
  }

  // On a line of its own: it is written only to sleep, so that the look finds it in the cache. On the line of the word
  // it would wait for that line to come back from the first waiter that polls it (20 of 117 ns an episode of two).
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> count_{0};
};

}  // namespace tutti
