// SPDX-License-Identifier: Apache-2.0
// The one way in which threads wait without running: at an address, until another thread or
// handler unparks that address. Condition variables, mutexes, and the waits of the memory policy
// are made of it.
#pragma once

#include "kernel/core/core.hpp"

namespace tutti::kernel {

// The waiting threads of the addresses that fall into it. Buckets are never destroyed, so a waker
// may touch one after the object at the address is gone.
struct alignas(cache_line) bucket {
  spin_lock lock;
  list<thread> waiting;
};
bucket& bucket_of(const void* address) noexcept;

inline constexpr u64 never = ~u64{0};

// Waits at `address` if still_waits() is true; no unpark() comes between that look and the wait.
// Calls before_sleep() when other threads can already see the wait. Returns false if the clock
// reached `deadline` ticks first.
template <class StillWaits, class BeforeSleep>
bool park(const void* address, StillWaits still_waits, u64 deadline,
          BeforeSleep before_sleep) noexcept {
  const without_interrupts off;
  thread& me = *machine::here().current;
  bucket& mine = bucket_of(address);
  mine.lock.lock();
  if (!still_waits()) {
    mine.lock.unlock();
    return true;
  }
  me.timed_out = false;
  me.now = thread::state::blocked;
  me.waits_for = address;
  // relaxed: the bucket's lock orders it.
  me.waits_in.store(&mine, relaxed);
  mine.waiting.append(me);
  mine.lock.unlock();
  if (deadline != never) wake_at(me, deadline);
  before_sleep();
  reschedule();
  if (deadline != never) cancel_wake(me);
  return !me.timed_out;
}
template <class StillWaits>
bool park(const void* address, StillWaits still_waits, u64 deadline = never) noexcept {
  return park(address, still_waits, deadline, [] {});
}

// Wakes up to `most` of the threads that wait at the address, the longest waiting first, and
// returns how many.
u32 unpark(const void* address, u32 most = ~u32{0}, wake_up how = wake_up::kicked) noexcept;

// Ends the wait of a thread of this core whose time has come, if nobody else has ended it.
void end_wait_at_deadline(thread& t) noexcept;

}  // namespace tutti::kernel
