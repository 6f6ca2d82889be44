// SPDX-License-Identifier: Apache-2.0
// The native memory policy: std::atomic and the operating system, without any cost of its own.
//
// A memory policy is all that an algorithm knows of the machine. The same algorithm runs on two
// policies:
//   native     this file
//   checked    tests/model/checked.hpp: explores executions of C++'s memory model, with every
//              memory order weakened in turn
// Each policy provides:
//   atomic<T>, mutex          the types of shared words and of locks
//   plain<T>                  data that the algorithm publishes; `checked` reports races on it
//   order(site, o)            the order of the atomic operation with the name `site`
//   fence(site, o)            a fence
//   relax(), relax_long()     the pause after one poll of a wait, and of a wait that takes long
//   yield()                   lets another thread use the processor
//   park(word, seen, until)   sleeps while word == seen, until a deadline in nanoseconds
//   unpark(word)              wakes all threads that sleep on the word
//   unpark_one(word)          wakes one of them
//   now_ns(), core()          the clock and the per-CPU data that the adaptive wait policy learns
//                             from
//   place()                   a number that threads close to each other probably share
#pragma once

#include <atomic>
#include <cstdint>

#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/cpu.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/futex.hpp"
#include "tutti/platform/monitor.hpp"
#include "tutti/platform/mutex.hpp"
#include "tutti/platform/pause.hpp"

namespace tutti {

namespace platform {
// Calls std::atomic_thread_fence. ThreadSanitizer executes fences but does not model them, and GCC
// warns about that. Here this can neither hide a race nor report a false one: the only fences are
// those of sleepers.hpp, which decide whether a sleeper is woken and publish no data.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
inline void fence(std::memory_order o) noexcept { __atomic_thread_fence(static_cast<int>(o)); }
#pragma GCC diagnostic pop
#else
inline void fence(std::memory_order o) noexcept { std::atomic_thread_fence(o); }
#endif
}  // namespace platform

struct native {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  using plain = T;

  static constexpr std::memory_order order(const char* /*site*/, std::memory_order o) noexcept {
    return o;
  }
  static void fence(const char* /*site*/, std::memory_order o) noexcept { platform::fence(o); }
  static void relax() noexcept {
    if (!platform::switch_fiber()) platform::poll_gap();
  }
  static void relax_long() noexcept {
    if (!platform::switch_fiber()) platform::long_pause();
  }

#if TUTTI_HOSTED
  using mutex = platform::system_mutex;
  static constexpr bool can_park = true;
  static void yield() noexcept {
    if (!platform::switch_fiber()) sched_yield();
  }
  static std::uint64_t now_ns() noexcept { return platform::now_ns(); }
  static platform::cpu_hints& core() noexcept { return platform::cpu_hints::here(); }
  // A striped barrier has up to 8 participants on a leaf.
  static std::uint32_t place() noexcept { return platform::current_cpu() / 8; }
  static void park(const atomic<std::uint32_t>& word, std::uint32_t seen,
                   std::uint64_t deadline_ns) noexcept {
    sleep(&word, seen, deadline_ns);
  }
  static void park(const atomic<std::uint64_t>& word, std::uint64_t seen,
                   std::uint64_t deadline_ns) noexcept {
    sleep(platform::low_half(word), static_cast<std::uint32_t>(seen), deadline_ns);
  }
  static void unpark(const atomic<std::uint32_t>& word) noexcept {
    platform::futex_wake_all(&word);
  }
  static void unpark(const atomic<std::uint64_t>& word) noexcept {
    platform::futex_wake_all(platform::low_half(word));
  }
  static void unpark_one(const atomic<std::uint32_t>& word) noexcept {
    platform::futex_wake_one(&word);
  }

 private:
  static void sleep(const void* word, std::uint32_t seen, std::uint64_t deadline_ns) noexcept {
    if (!platform::park_fiber(word, seen, deadline_ns))
      platform::futex_wait(word, seen, deadline_ns);
  }

 public:
#else
  using mutex = platform::spin_mutex;
  static constexpr bool can_park = false;
  static void yield() noexcept { platform::pause(); }
  static std::uint64_t now_ns() noexcept { return 0; }
  static platform::cpu_hints& core() noexcept { return platform::cpu_hints::here(); }
  static std::uint32_t place() noexcept { return 0; }
  template <class Word, class Value>
  static void park(const Word&, Value, std::uint64_t) noexcept {
    platform::pause();
  }
  template <class Word>
  static void unpark(const Word&) noexcept {}
  template <class Word>
  static void unpark_one(const Word&) noexcept {}
#endif
};

}  // namespace tutti
