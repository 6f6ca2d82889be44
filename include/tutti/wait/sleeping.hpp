// SPDX-License-Identifier: Apache-2.0
// What the wait policies share that poll for some time and then sleep: waking the sleepers, and the
// patience. A policy derives from one of the two classes and adds until().
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/native.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/polling.hpp"
#include "tutti/wait/sleepers.hpp"

namespace tutti {

template <class Memory = native>
class sleeping_wait {
 public:
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

 protected:
  constexpr sleeping_wait() noexcept = default;

  // Sleeps until the word is ready, or until the deadline: then it returns false.
  template <class Word, class Ready, class Deadline>
  bool sleep(const Word& word, std::memory_order order, Ready ready, Deadline deadline) noexcept {
    return sleepers_.sleep(word, order, ready, deadline);
  }

 private:
  // What a derived class adds uses the rest of its cache line: both are written rarely, and long
  // waits read them.
  [[no_unique_address]] sleepers<Memory> sleepers_;
};

// The same with a patience.
template <class Memory = native>
class patient_wait : public sleeping_wait<Memory> {
 public:
  // Sets the patience of all waits that begin later. Any thread may call it at any time. Returns
  // true, because the policy has a patience.
  bool set_patience(patience p) noexcept {
    // relaxed: the value publishes nothing else.
    patience_.store(p.chosen().word(), relaxed);
    return true;
  }

 protected:
  explicit constexpr patient_wait(patience p) noexcept : patience_(p.chosen().word()) {}

  // Returns the patience of a wait that begins now.
  patience chosen_patience() const noexcept {
    // A constinit policy has not read the environment yet.
    // relaxed: the value publishes nothing else.
    return patience::of_word(patience_.load(relaxed)).chosen();
  }

  // Sets `crowded_waits` to `most` if another thread has waited on this core since this one last
  // did. Otherwise counts it down: at 0 the thread takes the core for its own.
  static void note_crowd(std::uint8_t& crowded_waits, std::uint8_t most) noexcept {
    if (Memory::core().visited_by_another())
      crowded_waits = most;
    else if (crowded_waits > 0)
      --crowded_waits;
  }

 private:
  typename Memory::template setting<std::uint64_t> patience_;
};

}  // namespace tutti
