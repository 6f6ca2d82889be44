// SPDX-License-Identifier: Apache-2.0
// Parking: a waiter sleeps on a word without missing the store that would wake it, and a notifier
// pays only one load if there are no sleepers.
//
// The waiter announces itself and then reads the word a last time (in the kernel). The notifier
// changes the word and then reads the announcements. Sequential consistency puts the announcement
// and the change in one order, so at least one of the two threads sees what the other did.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/native.hpp"

namespace tutti {

template <class Memory = native>
class sleepers {
 public:
  // Announces this thread as one that is about to sleep. Notifiers change the word from now on.
  void announce() noexcept {
    // relaxed: the fence below orders it.
    count_.fetch_add(1, relaxed);
    // seq_cst: puts the announcement before the last load of the word in the total order; pairs
    // with the fence in wake_after_store, and with the update and the load of wake_after_update.
    Memory::fence("sleepers.announce_fence", seq_cst);
  }
  // Takes the announcement back.
  // relaxed: a late decrement only costs an unnecessary wake-up, unless the caller gives another
  // order.
  void leave(std::memory_order order = relaxed) noexcept { count_.fetch_sub(1, order); }

  // Sleeps until ready(word) is true, and returns true, or until the deadline, and returns false. A
  // word with functions announce() and leave() counts its sleepers itself, and wakes them itself.
  template <class Word, class Ready, class Deadline>
  bool sleep(const Word& word, std::memory_order order, Ready ready, Deadline deadline) noexcept {
    constexpr bool has_own_count = requires { word.announce(); };
    if constexpr (has_own_count)
      word.announce();
    else
      announce();
    bool is_ready = false;
    for (;;) {
      const auto seen = word.load(order);
      is_ready = ready(seen);
      if (is_ready || deadline.template passed<Memory>()) break;
      Memory::park(word, seen, deadline.park_ns());
    }
    if constexpr (has_own_count)
      word.leave();
    else
      leave();
    return is_ready;
  }

  // Returns how many waiters sleep or are about to sleep. The number may be out of date.
  // relaxed: a hint, unless the caller gives another order.
  std::uint32_t asleep(std::memory_order order = relaxed) const noexcept {
    return count_.load(order);
  }

  // Wakes all sleepers after a plain store to the word. Returns true if there were any.
  template <class Word>
  bool wake_after_store(const Word& word) noexcept {
    // seq_cst: orders the store before the load of the announcements; pairs with the fence in
    // sleep.
    Memory::fence("sleepers.wake_fence", seq_cst);
    // relaxed: the fence above orders it.
    return wake_if(count_.load(relaxed), word);
  }

  // Wakes one of the sleepers on the word, after a plain store to it.
  template <class Word>
  bool wake_one_after_store(const Word& word) noexcept {
    // seq_cst: orders the store before the load of the announcements; pairs with the fence in
    // sleep.
    Memory::fence("sleepers.wake_fence", seq_cst);
    // relaxed: the fence above orders it.
    return wake_one_if(count_.load(relaxed), word);
  }

  // Wakes all sleepers after a seq_cst read-modify-write of the word, which is part of the total
  // order itself.
  template <class Word>
  bool wake_after_update(const Word& word) noexcept {
    // seq_cst: follows the update of the word in the total order; pairs with the fence in sleep.
    return wake_if(count_.load(Memory::order("sleepers.wake_look", seq_cst)), word);
  }

  // Wakes one of the sleepers, after a seq_cst read-modify-write.
  template <class Word>
  bool wake_one_after_update(const Word& word) noexcept {
    // seq_cst: follows the update in the total order; pairs with the fence in sleep.
    return wake_one_if(count_.load(Memory::order("sleepers.wake_one_look", seq_cst)), word);
  }

 private:
  template <class Word>
  static bool wake_if(std::uint32_t asleep, const Word& word) noexcept {
    if (asleep == 0) return false;
    Memory::unpark(word);
    return true;
  }
  template <class Word>
  static bool wake_one_if(std::uint32_t asleep, const Word& word) noexcept {
    if (asleep == 0) return false;
    Memory::unpark_one(word);
    return true;
  }

  // The count has a cache line of its own. Only sleepers write it, so a notifier finds it in its
  // cache. On the line of the word, a notifier's load would have to wait until that line comes back
  // from the first waiter that polls it (20 ns of the 117 ns that an episode of two takes).
  alignas(cache_line) typename Memory::template atomic<std::uint32_t> count_{0};
};

}  // namespace tutti
