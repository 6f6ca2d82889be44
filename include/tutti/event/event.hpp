// SPDX-License-Identifier: Apache-2.0
// tutti::event, which most programs include: it tells one thread, or all, that something has
// happened. Nothing that it tells is lost, and no lock is needed.
//
//   tutti::event ready;
//   ready.signal();                     // unicast: one wait() returns
//   ready.wait();                       // takes a signal
//
//   auto seen = ready.now();            // a receiver's place among the broadcasts
//   ready.broadcast();                  // every receiver returns once
//   ready.wait_past(seen);              // waits for the next broadcast, and moves the place
//
// Signals are counted: each ends exactly one wait(), now or later. Broadcasts are numbered, and
// each receiver keeps the number that it has seen, so a receiver that comes late misses none.
// Several broadcasts before it looks end one wait, which returns how many there were.
//
// Cost       without waiters one read-modify-write and one load; to a receiver that is awake one
//            transfer of a cache line; to one that sleeps a system call and its wake-up
// Memory ordering: what a thread does before signal() happens before the return of the wait() that
// takes it, and what it does before broadcast() before the return of each wait that sees it.
// Thread-safety: any thread may call any function at any time; one thread at a time may use a
// place.
// Destruction: no thread may be inside of a call.
// Hosted only: std::chrono is part of the interface.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "tutti/barrier/timed.hpp"
#include "tutti/event/eventcount.hpp"

namespace tutti {

// What a receiver has seen of an event's broadcasts.
class event_place {
 public:
  constexpr explicit event_place(std::uint32_t broadcasts = 0) noexcept : seen_(broadcasts) {}
  // The number of broadcasts, modulo 2^32.
  constexpr std::uint32_t broadcasts() const noexcept { return seen_; }

 private:
  std::uint32_t seen_;
};

template <class Memory = native, class Wait = adaptive_wait<event_memory<Memory>>>
class basic_event {
  using waiters = basic_eventcount<Memory, Wait>;
  using site = call_site;

 public:
  basic_event(site made = site::here()) : takers_(made), receivers_(made) {}
  explicit basic_event(patience p, site made = site::here())
      : takers_(p, made), receivers_(p, made) {}
  // About so many threads will wait at the same time; further arguments are those of the wait
  // policy.
  explicit basic_event(rank_t waiting, const auto&... wait_arguments)
      : takers_(waiting, wait_arguments...), receivers_(waiting, wait_arguments...) {}
  basic_event(const basic_event&) = delete;
  basic_event& operator=(const basic_event&) = delete;

  // Sets the patience of all waits that begin later. Returns false if the wait policy has none.
  bool set_patience(patience p) noexcept {
    return takers_.set_patience(p) && receivers_.set_patience(p);
  }

  // ---- unicast

  // Adds signals, of which each ends one wait(). At most 2^32 - 1 may wait to be taken.
  void signal(std::uint32_t count = 1) noexcept {
    // seq_cst: publishes what is signalled; pairs with try_take(). It comes before the look for
    // sleepers in the one order.
    signals_.fetch_add(count, Memory::order("event.signal", seq_cst));
    if (count == 1)
      takers_.notify_one_ordered();
    else
      takers_.notify_all_ordered();
  }

  // Takes a signal if there is one.
  bool try_take() noexcept {
    // relaxed: the exchange below orders.
    std::uint32_t there = signals_.load(relaxed);
    while (there != 0)
      // acquire: sees what was signalled; pairs with signal(). relaxed: it has taken nothing.
      if (signals_.compare_exchange_weak(there, there - 1, Memory::order("event.take", acquire),
                                         relaxed))
        return true;
    return false;
  }

  // Waits for a signal and takes it.
  void wait() noexcept { (void)wait_by(no_deadline{}); }
  // Return false if the deadline passed first. Then they have taken nothing.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> timeout) noexcept {
    return wait_by(deadline_after<Memory>(timeout));
  }
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> when) noexcept {
    return wait_by(deadline_at<Memory>(when));
  }
  // Takes a deadline of wait/deadline.hpp, which may be a cancellation.
  template <class Deadline>
  bool wait_by(Deadline until) noexcept {
    return takers_.wait([this]() noexcept { return try_take(); }, until);
  }

  // ---- broadcast

  // Ends the waits of all receivers, now or later.
  void broadcast() noexcept {
    // seq_cst: publishes what is told; pairs with has_passed(). It comes before the look for
    // sleepers in the one order.
    broadcasts_.fetch_add(1, Memory::order("event.broadcast", seq_cst));
    receivers_.notify_all_ordered();
  }

  // Returns a place that has seen all broadcasts until now.
  event_place now() const noexcept {
    // acquire: sees what these broadcasts told; pairs with broadcast().
    return event_place(broadcasts_.load(Memory::order("event.now", acquire)));
  }

  // Waits until there was a broadcast that the place has not seen, moves the place to the last one,
  // and returns how many there were.
  std::uint32_t wait_past(event_place& seen) noexcept { return wait_past_by(seen, no_deadline{}); }
  // Return 0 if the deadline passed first.
  template <class Rep, class Period>
  std::uint32_t wait_past_for(event_place& seen,
                              std::chrono::duration<Rep, Period> timeout) noexcept {
    return wait_past_by(seen, deadline_after<Memory>(timeout));
  }
  template <class Clock, class Duration>
  std::uint32_t wait_past_until(event_place& seen,
                                std::chrono::time_point<Clock, Duration> when) noexcept {
    return wait_past_by(seen, deadline_at<Memory>(when));
  }
  template <class Deadline>
  std::uint32_t wait_past_by(event_place& seen, Deadline until) noexcept {
    std::uint32_t now = seen.broadcasts();
    const auto has_passed = [&]() noexcept {
      // acquire: sees what the broadcast told; pairs with broadcast().
      now = broadcasts_.load(Memory::order("event.look", acquire));
      return now != seen.broadcasts();
    };
    if (!receivers_.wait(has_passed, until)) return 0;
    const std::uint32_t count = now - seen.broadcasts();
    seen = event_place(now);
    return count;
  }

 private:
  template <class T>
  using atomic = typename Memory::template atomic<T>;

  // Each counter has a line of its own: waiters poll it.
  alignas(cache_line) atomic<std::uint32_t> signals_{0};
  alignas(cache_line) atomic<std::uint32_t> broadcasts_{0};
  waiters takers_;
  waiters receivers_;
};

using event = basic_event<>;

}  // namespace tutti
