// SPDX-License-Identifier: Apache-2.0
// An eventcount: threads wait until a condition on any data holds, without a lock, and no
// notification is missed.
//
//   tutti::eventcount arrived;
//   arrived.wait([&] { return head.load(std::memory_order_acquire) != tail; });   // waiter
//   head.store(next, std::memory_order_release); arrived.notify_one();           // notifier
//
// wait(condition) polls the condition itself, so a waiter that is awake sees the notifier's store
// as soon as the line arrives, and the notification costs a fence and one load. The other form is
// for a condition that is too expensive to poll, or that needs a lock:
//
//   auto key = arrived.prepare_wait();
//   if (something_to_do()) arrived.cancel_wait(key);
//   else arrived.commit_wait(key);                    // then look again
//
// Cost       a notification without waiters: a fence and one load; after a seq_cst
//            read-modify-write, notify_*_ordered: one load. With sleepers: a system call
// Memory ordering: a waiter whose condition was made true before a notification finds it true when
// it wakes. What the condition reads is the program's: it loads with acquire what the notifier
// stored with release. commit_wait() that returns because of a notification synchronises with it.
// Thread-safety: any thread may call any function at any time.
// Destruction: no thread may be inside of wait() or between prepare_wait() and commit_wait().
// Source     the eventcount of D. Vyukov, after Reed and Kanodia 1979; the announcement is that of
//            sleepers.hpp
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/event/event_word.hpp"
#include "tutti/platform/misuse.hpp"
#include "tutti/platform/native.hpp"
#include "tutti/wait/adaptive.hpp"
#include "tutti/wait/deadline.hpp"
#include "tutti/wait/patience.hpp"
#include "tutti/wait/thread_state.hpp"

namespace tutti {

// `Wait` is a wait policy on event_memory<Memory>. Calls from sources that are compiled with checks
// report misuse (platform/misuse.hpp).
template <class Memory = native, class Wait = adaptive_wait<event_memory<Memory>>>
class basic_eventcount {
  using site = call_site;

 public:
  // What prepare_wait() returns: how often the event had been notified.
  class key {
   public:
    explicit key(std::uint32_t seen) noexcept : seen_(seen) {}
    std::uint32_t seen() const noexcept { return seen_; }

   private:
    std::uint32_t seen_;
  };

  basic_eventcount(site made = site::here()) : wait_(some_waiters), made_(made) {}
  explicit basic_eventcount(patience p, site made = site::here()) : basic_eventcount(made) {
    set_patience(p);
  }
  // About so many threads will wait at the same time; further arguments are those of the wait
  // policy.
  explicit basic_eventcount(rank_t waiters, const auto&... wait_arguments)
      : wait_(waiters, wait_arguments...) {}
  ~basic_eventcount() {
    if (made_.checks()) check_nobody_waits();
  }
  basic_eventcount(const basic_eventcount&) = delete;
  basic_eventcount& operator=(const basic_eventcount&) = delete;

  // Sets the patience of all waits that begin later. Returns false if the wait policy has none.
  bool set_patience(patience p) noexcept { return set_patience_of(wait_, p); }

  // ---- waiting for a condition

  // Returns once condition() has returned true, and does not call it again after that, so it may
  // take what it finds. It is called often, by all waiters at the same time, and must not throw.
  template <class Condition>
  void wait(Condition condition) noexcept {
    wait(condition, no_deadline{});
  }
  // Returns false if the deadline passed first.
  template <class Condition, class Deadline>
  bool wait(Condition condition, Deadline until) noexcept {
    bool is_over = false;
    const auto ready = [&](std::uint32_t) noexcept {
      return is_over || (is_over = static_cast<bool>(condition()));
    };
    // acquire: pairs with the notifier's change of the word, after which the condition is looked at
    // again.
    return wait_.until(state_here(), word_, Memory::order("eventcount.wait", acquire), ready,
                       until);
  }

  // ---- in steps: each prepare_wait() is followed by one cancel_wait() or commit_wait()

  [[nodiscard]] key prepare_wait() noexcept {
    word_.announce();
    // acquire: if this is already the word after a notification, what was notified is seen; pairs
    // with the notifier's change of the word.
    return key(word_.load(Memory::order("eventcount.prepare", acquire)));
  }
  void cancel_wait(key, site where = site::here()) {
    check_prepared(where);
    word_.leave();
  }
  // Returns once there was a notification after prepare_wait().
  void commit_wait(key prepared, site where = site::here()) {
    commit_wait(prepared, no_deadline{}, where);
  }
  // Returns false if the deadline passed first.
  template <class Deadline>
  bool commit_wait(key prepared, Deadline until, site where = site::here()) {
    check_prepared(where);
    const auto notified = [&](std::uint32_t now) noexcept { return now != prepared.seen(); };
    // acquire: sees what was notified; pairs with the notifier's change of the word.
    const bool in_time = wait_.until(state_here(), word_,
                                     Memory::order("eventcount.commit", acquire), notified, until);
    word_.leave();
    return in_time;
  }

  // ---- notifying: all waiters, or at least one. They return whether anybody slept or had
  // announced itself. A waiter that is awake sees the change by itself. Among sleepers of different
  // real-time priorities use notify_all(): the system wakes the one of the highest priority, even
  // if that one began to wait after the notification and waits for something else.

  bool notify_all() noexcept { return word_.notify_all(); }
  bool notify_one() noexcept { return word_.notify_one(); }
  // The same without a fence, if the change was a seq_cst read-modify-write.
  bool notify_all_ordered() noexcept { return word_.notify_all_ordered(); }
  bool notify_one_ordered() noexcept { return word_.notify_one_ordered(); }

  // Returns how many threads sleep or are about to. The number may be out of date.
  std::uint32_t announced() const noexcept { return word_.announced(); }
  // Returns true if nobody is inside of a call that may sleep. Then it may be destroyed, unless
  // threads may still begin to wait.
  bool is_deserted() const noexcept { return word_.is_deserted(); }

 private:
  // The wait policy hears a number, and only a bound on retries depends on it.
  static constexpr rank_t some_waiters = 2;

  typename Wait::wait_state& state_here() const noexcept {
    return state_of_this_thread<typename Wait::wait_state, Memory>(this);
  }

  void check_prepared(site where) const {
    if (where.checks() && announced() == 0) [[unlikely]]
      on_misuse("a wait on an eventcount ends that no prepare_wait() began", where.at());
  }
  void check_nobody_waits() const {
    if (announced() != 0)
      on_misuse("an eventcount is destroyed while " + std::to_string(announced()) +
                    " threads wait for it",
                made_.at());
  }

  event_word<Memory> word_;
  Wait wait_;
  // The place to report from the destructor, which has no call site.
  const site made_{};
};

using eventcount = basic_eventcount<>;

}  // namespace tutti
