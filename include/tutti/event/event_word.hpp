// SPDX-License-Identifier: Apache-2.0
// The word on which the waiters of an event sleep, with the count of those who do. Awake, a waiter
// looks at what it waits for; only sleepers, and those who are about to sleep, need the word. A
// notifier changes it if, and only if, somebody is announced, so a notification for nobody costs
// one load of a line that hardly ever changes.
//
// The announcements are those of sleepers.hpp. They belong to the word, not to the wait policy,
// because a waiter can also announce itself before it decides whether to wait (eventcount.hpp).
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/brief_pause.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/sleepers.hpp"
#include "tutti/wait/wake_word.hpp"

namespace tutti {

template <class Memory = native>
class event_word {
 public:
  // ---- for waiters: a wait policy on event_memory<Memory> calls these

  std::uint32_t load(std::memory_order o) const noexcept { return word_.load(o); }
  void announce() const noexcept { sleepers_.announce(); }
  void leave() const noexcept {
    // release: what the waiter did with the word comes before its destruction; pairs with
    // is_deserted().
    sleepers_.leave(Memory::order("event_word.leave", release));
  }
  void park(std::uint32_t seen, std::uint64_t deadline_ns) const noexcept {
    word_.park(seen, deadline_ns);
  }
  // The line changes only for those who are announced.
  template <class Changed>
  void nap(Changed changed) const noexcept {
    announce();
    word_.nap(changed);
    leave();
  }

  // ---- for notifiers, who have changed what the waiters look at: by a plain store, or, in the
  // functions with _ordered, by a seq_cst read-modify-write, which makes the fence unnecessary.
  // Each returns whether anybody was announced.

  bool notify_all() noexcept { return sleepers_.wake_after_store(word_); }
  bool notify_one() noexcept { return sleepers_.wake_one_after_store(word_); }
  bool notify_all_ordered() noexcept { return sleepers_.wake_after_update(word_); }
  bool notify_one_ordered() noexcept { return sleepers_.wake_one_after_update(word_); }

  // Returns how many threads are announced. The number may be out of date.
  std::uint32_t announced() const noexcept { return sleepers_.asleep(); }
  // Returns true if nobody is announced. Then the word may be destroyed, unless threads may still
  // begin to wait.
  bool is_deserted() const noexcept {
    // acquire: pairs with leave().
    return sleepers_.asleep(Memory::order("event_word.deserted", acquire)) == 0;
  }

 private:
  // Mutable because wait policies take the word as a constant.
  mutable sleepers<wake_word_memory<Memory>> sleepers_;
  wake_word<Memory> word_;
};

// The platform with which a wait policy waits for an event word.
template <class Memory>
struct event_memory : Memory {
  // The notifier writes what waiters poll once, and then needs the line no more.
  static void relax() noexcept { platform::relax_briefly<Memory>(); }
  static void relax_long() noexcept { platform::relax_briefly_long<Memory>(); }
  using Memory::park;
  static void park(const event_word<Memory>& word, std::uint32_t seen,
                   std::uint64_t deadline_ns) noexcept {
    word.park(seen, deadline_ns);
  }
  template <class Changed>
  static void nap(const event_word<Memory>& word, Changed changed) noexcept {
    word.nap(changed);
  }
};

}  // namespace tutti
