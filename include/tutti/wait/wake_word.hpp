// SPDX-License-Identifier: Apache-2.0
// The word on which a participant sleeps while it waits for one of several things: a message in any
// of its rings, or the end of the episode. Awake, a waiter checks all of them; asleep, it can wait
// on one word only. A participant that publishes something changes that word if, and only if, the
// waiter sleeps. A sender therefore pays a fence and a load, and the word's line stays where it is.
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

template <class Memory = native>
class wake_word {
 public:
  std::uint32_t load(std::memory_order o) const noexcept { return word_.load(o); }

  void park(std::uint32_t seen, std::uint64_t deadline_ns) const noexcept {
    Memory::park(word_, seen, deadline_ns);
  }
  void wake() const noexcept {
    change();
    Memory::unpark(word_);
  }
  void wake_one() const noexcept {
    change();
    Memory::unpark_one(word_);
  }
  template <class Changed>
  void nap(Changed changed) const noexcept {
    Memory::nap(word_, changed);
  }

 private:
  void change() const noexcept {
    // release: publishes what the waiter is woken for; pairs with its look at the word, after which
    // it looks at everything else.
    word_.fetch_add(1, Memory::order("wake_word.wake", release));
  }

  // The word is mutable because wait policies wake the sleepers of a constant word.
  mutable typename Memory::template atomic<std::uint32_t> word_{0};
};

// The platform with which a wait policy waits for a wake word.
template <class Memory>
struct wake_word_memory : Memory {
  using Memory::park;
  using Memory::unpark;
  using Memory::unpark_one;
  static void park(const wake_word<Memory>& word, std::uint32_t seen,
                   std::uint64_t deadline_ns) noexcept {
    word.park(seen, deadline_ns);
  }
  static void unpark(const wake_word<Memory>& word) noexcept { word.wake(); }
  static void unpark_one(const wake_word<Memory>& word) noexcept { word.wake_one(); }
};

}  // namespace tutti
