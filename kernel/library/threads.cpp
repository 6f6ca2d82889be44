// SPDX-License-Identifier: Apache-2.0
// The functions of POSIX threads that the C++ library calls, and its waiting on words of memory,
// by the kernel's threads.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "kernel/core/core.hpp"
#include "kernel/core/mutex.hpp"
#include "kernel/core/panic.hpp"
#include "kernel/core/park.hpp"

using namespace tutti::kernel;

namespace {

// What a pthread_mutex_t holds here. Its static initialisers are zeros, except for the kind.
struct posix_mutex {
  mutex lock;
  u32 depth;
  const thread* owner;
  int kind;
};
static_assert(sizeof(posix_mutex) <= sizeof(pthread_mutex_t) &&
              offsetof(posix_mutex, kind) == offsetof(pthread_mutex_t, __data.__kind));

posix_mutex& of(pthread_mutex_t* m) { return *reinterpret_cast<posix_mutex*>(m); }

bool take(posix_mutex& m, bool may_wait) noexcept {
  const thread* const me = &self();
  if (m.kind == PTHREAD_MUTEX_RECURSIVE && __atomic_load_n(&m.owner, __ATOMIC_RELAXED) == me) {
    ++m.depth;
    return true;
  }
  if (may_wait)
    m.lock.lock();
  else if (!m.lock.try_lock())
    return false;
  // relaxed: other threads only look whether it is their own.
  __atomic_store_n(&m.owner, me, __ATOMIC_RELAXED);
  return true;
}

// The ticks of this time and as many more. What lies before the clocks' begin is 0, and what the
// counter does not reach is `never`.
u64 ticks_at(const timespec& t, u64 more) noexcept {
  if (t.tv_sec < 0) return 0;
  u64 ticks = 0;
  if (__builtin_mul_overflow(static_cast<u64>(t.tv_sec), u64{1'000'000}, &ticks) ||
      __builtin_add_overflow(ticks, static_cast<u64>(t.tv_nsec) / 1000, &ticks) ||
      __builtin_mul_overflow(ticks, machine::ticks_per_us(), &ticks) ||
      __builtin_add_overflow(ticks, more, &ticks))
    return never;
  return ticks;
}

int answer(int error) noexcept {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// The kernel's clocks all begin when the processor's counter is 0.
int wait_on_word(const std::atomic<u32>& word, u32 seen, const timespec* limit,
                 bool is_relative) noexcept {
  u64 deadline = never;
  if (limit != nullptr) deadline = ticks_at(*limit, is_relative ? machine::ticks() : 0);
  bool waited = false;
  const bool is_woken = park(
      &word,
      [&] {
        // seq_cst: the look comes after the announcement of the sleeper, as in Linux' futex.
        waited = word.load(std::memory_order_seq_cst) == seen;
        return waited;
      },
      deadline);
  return answer(!is_woken ? ETIMEDOUT : !waited ? EAGAIN : 0);
}

}  // namespace

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* m) noexcept {
  take(of(m), true);
  return 0;
}
int pthread_mutex_trylock(pthread_mutex_t* m) noexcept { return take(of(m), false) ? 0 : EBUSY; }
int pthread_mutex_unlock(pthread_mutex_t* given) noexcept {
  posix_mutex& m = of(given);
  if (m.depth > 0) {
    --m.depth;
    return 0;
  }
  // relaxed: as in take().
  __atomic_store_n(&m.owner, nullptr, __ATOMIC_RELAXED);
  m.lock.unlock();
  return 0;
}

int pthread_once(pthread_once_t* control, void (*run)()) {
  constexpr u32 fresh = 0, running = 1, done = 2;
  auto& state = *reinterpret_cast<std::atomic<u32>*>(control);
  for (;;) {
    u32 seen = fresh;
    // acquire: what the thread that ran it wrote is seen; pairs with the store below.
    if (state.compare_exchange_strong(seen, running, std::memory_order_acquire,
                                      std::memory_order_acquire))
      break;
    if (seen == done) return 0;
    yield();
  }
  try {
    run();
  } catch (...) {
    // relaxed: the next thread begins anew.
    state.store(fresh, std::memory_order_relaxed);
    throw;
  }
  // release: publishes what run() wrote.
  state.store(done, std::memory_order_release);
  return 0;
}

// The C++ library uses one of Linux' calls by number, to wait on a word and to wake, for static
// variables and atomic waits.
long syscall(long number, ...) noexcept {
  if (number != SYS_futex) return answer(ENOSYS);
  va_list rest;
  va_start(rest, number);
  const auto* word = va_arg(rest, const std::atomic<u32>*);
  const int operation = va_arg(rest, int) & FUTEX_CMD_MASK;
  const auto value = va_arg(rest, u32);
  const auto* limit = va_arg(rest, const timespec*);
  va_end(rest);
  switch (operation) {
    case FUTEX_WAKE: return unpark(word, value);
    case FUTEX_WAIT: return wait_on_word(*word, value, limit, true);
    case FUTEX_WAIT_BITSET: return wait_on_word(*word, value, limit, false);
    default: return answer(ENOSYS);
  }
}

}  // extern "C"
