// SPDX-License-Identifier: Apache-2.0
// A lock by which other processes learn that the thread that holds it has ended (Linux).
//
// The kernel has a list of the robust mutexes that a thread holds. When the thread ends, for
// whatever reason, or its process calls execve, the kernel marks their words at once, before it
// frees the memory of the process, and wakes one thread that sleeps on each. (A pidfd tells only
// after that: 17 ms with 256 MiB, on a machine where the word tells within 0.15 ms.) A process that
// is stopped (SIGSTOP) has not ended. If the holder unmaps the memory, nobody is told.
// Hosted only: there are no processes without an operating system.
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "tutti/export.h"
#include "tutti/platform/hosted.hpp"
#include "tutti/platform/thread_sanitizer.hpp"

extern "C" {
TUTTI_API __attribute__((weak)) void __tsan_mutex_pre_lock(void* mutex, unsigned flags);
TUTTI_API __attribute__((weak)) void __tsan_mutex_post_lock(void* mutex, unsigned flags, int depth);
TUTTI_API __attribute__((weak)) int __tsan_mutex_pre_unlock(void* mutex, unsigned flags);
TUTTI_API __attribute__((weak)) void __tsan_mutex_post_unlock(void* mutex, unsigned flags);
}

namespace tutti::platform {

#if !defined(__GLIBC__)
#error "Barriers between processes need glibc, whose robust mutexes they watch."
#include "tutti/platform/the_error_above"
#endif

// Lies in shared memory, whose builder calls build() once. Thread-safe.
class robust_lock {
 public:
  void build() noexcept {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &kind);
    pthread_mutexattr_destroy(&kind);
  }

  enum class taking { taken, busy, dead };
  // Takes the lock for this thread, if no thread holds it. Returns `dead` if a thread has held it
  // until its end. The caller reports that, and then calls give(): nobody can take the lock again.
  // If the caller ends before, others find the lock as the caller did.
  taking try_take() noexcept {
    switch (pthread_mutex_trylock(&mutex_)) {
      case 0:
        // The kernel wakes a sleeper only if this bit is set.
        // relaxed: publishes nothing.
        __atomic_fetch_or(word(), waiters, __ATOMIC_RELAXED);
        forget_holder();
        return taking::taken;
      case EBUSY: return taking::busy;
      case EOWNERDEAD: forget_holder(); return taking::dead;
      default: return taking::dead;
    }
  }
  // The thread that took the lock gives it back. It does nothing in another thread, for which the
  // mutex would do nothing either, but ThreadSanitizer would report it.
  void give() noexcept {
    if ((value() & FUTEX_TID_MASK) != static_cast<std::uint32_t>(gettid())) return;
    become_holder();
    pthread_mutex_unlock(&mutex_);
  }

  // The word on which to sleep until the holder ends, its value, and what a value means.
  const void* address() const noexcept { return &mutex_.__data.__lock; }
  std::uint32_t value() const noexcept {
    // acquire: what the holder did before its end is seen.
    return __atomic_load_n(word(), __ATOMIC_ACQUIRE);
  }
  static bool is_dead(std::uint32_t value) noexcept { return (value & FUTEX_OWNER_DIED) != 0; }
  static bool is_held(std::uint32_t value) noexcept {
    return !is_dead(value) && (value & FUTEX_TID_MASK) != 0;
  }

 private:
  static constexpr std::uint32_t waiters = FUTEX_WAITERS;

  // The thread holds the lock, but ThreadSanitizer takes each fiber of it for a thread, and would
  // report that one fiber gives what another took. So it sees the lock free except in these calls.
  void forget_holder() noexcept {
    if (!under_thread_sanitizer()) return;
    __tsan_mutex_pre_unlock(&mutex_, 0);
    __tsan_mutex_post_unlock(&mutex_, 0);
  }
  void become_holder() noexcept {
    if (!under_thread_sanitizer()) return;
    constexpr unsigned tries = 1u << 4;
    __tsan_mutex_pre_lock(&mutex_, tries);
    __tsan_mutex_post_lock(&mutex_, tries, 0);
  }

  std::uint32_t* word() const noexcept {
    return const_cast<std::uint32_t*>(
        reinterpret_cast<const std::uint32_t*>(&mutex_.__data.__lock));
  }

  pthread_mutex_t mutex_;
};

}  // namespace tutti::platform
