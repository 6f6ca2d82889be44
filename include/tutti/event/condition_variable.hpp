// SPDX-License-Identifier: Apache-2.0
// A condition variable with the semantics of pthread_cond_t for any lock: tutti::barrier's wait
// policies, patience and deadlines, and no mutex of its own.
//
//   std::unique_lock lock(mutex);
//   changed.wait(lock, [&] { return !queue.empty(); });
//
// A waiter announces itself at an eventcount while it holds the lock, and then releases the lock.
// A notifier that changed the condition under the lock comes before or after that, so the waiter
// sees the change or the notification. A waiter that is awake leaves as soon as the word changes;
// the notifier makes no system call unless somebody is announced.
//
// Memory ordering: the lock's; the notification synchronises with the return from the wait too.
// Thread-safety: any thread may call any function at any time, also without the lock. A wait may
// return for no reason, and notify_one() may wake more than one waiter. Among waiters of different
// real-time priorities use notify_all(): the system wakes the one of the highest priority, even if
// that one began to wait after the notification, which the others then miss.
// Destruction: allowed once all waiters have been notified, as for pthread_cond_destroy; the
// destructor waits until they have left the word.
// Source     POSIX.1-2017, pthread_cond_wait
// Hosted only: std::chrono is part of the interface.
#pragma once

#include <chrono>
#include <utility>

#include "tutti/barrier/timed.hpp"
#include "tutti/event/eventcount.hpp"

namespace tutti {

template <class Memory = native, class Wait = adaptive_wait<event_memory<Memory>>>
class basic_condition_variable {
  using site = call_site;

 public:
  basic_condition_variable() = default;
  explicit basic_condition_variable(patience p) : notified_(p, site{}) {}
  // About so many threads will wait at the same time; further arguments are those of the wait
  // policy.
  explicit basic_condition_variable(rank_t waiters, const auto&... wait_arguments)
      : notified_(waiters, wait_arguments...) {}
  ~basic_condition_variable() {
    while (!notified_.is_deserted()) Memory::yield();
  }
  basic_condition_variable(const basic_condition_variable&) = delete;
  basic_condition_variable& operator=(const basic_condition_variable&) = delete;

  // Sets the patience of all waits that begin later. Returns false if the wait policy has none.
  bool set_patience(patience p) noexcept { return notified_.set_patience(p); }

  // Wake all waiters, or at least one. A waiter is a thread that released its lock in a wait before
  // this call.
  void notify_all() noexcept { notified_.notify_all(); }
  void notify_one() noexcept { notified_.notify_one(); }

  // Releases the lock, which the caller holds, waits for a notification, and takes the lock again.
  template <class Lock>
  void wait(Lock& lock, site where = site::here()) {
    (void)wait_by(lock, no_deadline{}, where);
  }
  // Waits until condition() returns true. It is called with the lock.
  template <class Lock, class Condition>
  requires requires(Condition& c) { static_cast<bool>(c()); }
  void wait(Lock& lock, Condition condition, site where = site::here()) {
    (void)wait_by(lock, condition, no_deadline{}, where);
  }

  // The same with a deadline. They return false if it passed first; with a condition, they return
  // what condition() returned last. The lock is held again in either case.
  template <class Lock, class Rep, class Period>
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> timeout, site where = site::here()) {
    return wait_by(lock, deadline_after<Memory>(timeout), where);
  }
  template <class Lock, class Rep, class Period, class Condition>
  requires requires(Condition& c) { static_cast<bool>(c()); }
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> timeout, Condition condition,
                site where = site::here()) {
    return wait_by(lock, condition, deadline_after<Memory>(timeout), where);
  }
  template <class Lock, class Clock, class Duration>
  bool wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> when,
                  site where = site::here()) {
    return wait_by(lock, deadline_at<Memory>(when), where);
  }
  template <class Lock, class Clock, class Duration, class Condition>
  requires requires(Condition& c) { static_cast<bool>(c()); }
  bool wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> when, Condition condition,
                  site where = site::here()) {
    return wait_by(lock, condition, deadline_at<Memory>(when), where);
  }

  // The same with a deadline of wait/deadline.hpp, which may be a cancellation.
  template <class Lock, class Deadline>
  bool wait_by(Lock& lock, Deadline until, site where = site::here()) {
    check_held(lock, where);
    announced here(notified_);
    lock.unlock();
    const bool in_time = here.commit(until);
    lock.lock();
    return in_time;
  }
  template <class Lock, class Condition, class Deadline>
  bool wait_by(Lock& lock, Condition& condition, Deadline until, site where = site::here()) {
    check_held(lock, where);
    while (!condition())
      if (!wait_by(lock, until, where)) return condition();
    return true;
  }

 private:
  // A waiter that is announced. It leaves if its lock throws instead of being released, as
  // std::unique_lock does if it is not held.
  class announced {
   public:
    explicit announced(basic_eventcount<Memory, Wait>& at) noexcept
        : at_(at), key_(at.prepare_wait()) {}
    ~announced() {
      if (!is_over_) at_.cancel_wait(key_, site{});
    }
    announced(const announced&) = delete;
    announced& operator=(const announced&) = delete;

    template <class Deadline>
    bool commit(Deadline until) {
      is_over_ = true;
      return at_.commit_wait(key_, until, site{});
    }

   private:
    basic_eventcount<Memory, Wait>& at_;
    const typename basic_eventcount<Memory, Wait>::key key_;
    bool is_over_ = false;
  };

  template <class Lock>
  static void check_held([[maybe_unused]] const Lock& lock, [[maybe_unused]] site where) {
    if constexpr (requires { lock.owns_lock(); })
      if (where.checks() && !lock.owns_lock()) [[unlikely]]
        on_misuse("a wait for a condition variable with a lock that is not held", where.at());
  }

  // Its checks are here: whoever was notified may still be in it when it is destroyed.
  basic_eventcount<Memory, Wait> notified_{site{}};
};

using condition_variable = basic_condition_variable<>;

}  // namespace tutti
