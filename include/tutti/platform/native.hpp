// SPDX-License-Identifier: Apache-2.0
// The native platform: std::atomic and the operating system, without any cost of its own.
//
// A platform is all that tutti knows of the machine: its memory, its waiting and its threads. It is
// the template parameter `Memory` of every algorithm. The same code runs on these platforms:
//   native     this file
//   checked    tests/model/checked.hpp: explores executions of C++'s memory model, with every
//              memory order weakened in turn
//   fibered    tests/platform/fibered.hpp: threads are fibers of one thread; the clock, the
//              sleep and the number of CPUs are simulated
//   simulated  sim/simulated.hpp: a machine of cores, caches and an operating system, in simulated
//              time
// A platform is a class with static functions and these types. Barriers, reductions and detectors
// need the first part:
//   atomic<T>, mutex          the types of shared words and of locks
//   setting<T>                an atomic word that publishes nothing and hardly ever changes
//   plain<T>                  data that the algorithm publishes; `checked` reports races on it
//   order(site, o)            the order of the atomic operation with the name `site`
//   fence(site, o)            a fence
//   relax(), relax_long()     the pause after one poll of a wait, and of a wait that takes long
//   yield()                   lets another thread use the processor
//   park(word, seen, until)   sleeps while word == seen, until a deadline in nanoseconds
//   unpark(word)              wakes all threads that sleep on the word
//   unpark_one(word)          wakes one of them
//   nap(word, changed)        halts the core until the word's line changes, or for a short time;
//                             monitor_wait calls it. changed() tells whether the wait is over
//   now_ns(), core()          the clock and the per-CPU data that the adaptive wait policy learns
//                             from
//   note_running()            optional: tells waiters on this core that this thread runs here
//   place()                   a number that threads close to each other probably share
//   cpus()                    the number of CPUs that the program may use
//   local<T>()                the object of type T of the running thread; T is trivially
//                             destructible and initialised by constants
//   cache_groups(n)           optional: the sizes of groups of n ranks that share a cache
// Teams also need the second part:
//   cores()                   the number of threads of a team that does not say how many
//   ticks(), ticks_per_ns()   a clock that is cheap to read, and its rate
//   cpu(), leave_cpu(number)  the number of the running thread's CPU, or -1; a hint that this
//                             thread should leave that CPU, where the thread that it helps runs
//   threads                   starts, places and joins the threads of a team, as system_threads
//                             (platform/threads.hpp) does; when_lost() and forget() are optional
//   fiber_group               runs virtual ranks, as in team/fibers.hpp; or no_fibers, which
//                             refuses them (team/no_fibers.hpp)
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "tutti/export.h"
#include "tutti/platform/clock.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/cpu.hpp"
#include "tutti/platform/fibers.hpp"
#include "tutti/platform/monitor.hpp"
#include "tutti/platform/mutex.hpp"
#include "tutti/platform/parking.hpp"
#include "tutti/platform/pause.hpp"
#include "tutti/platform/standard_words.hpp"
#include "tutti/platform/ticks.hpp"

#if defined(TUTTI_COMPILED_LIBRARY)
#include "tutti/platform/thread_sanitizer.hpp"
#endif

namespace tutti {

class fiber_group;

namespace platform {
class system_threads;

#if TUTTI_HOSTED
// The object of type T of this thread. One variable for the program and the shared library.
template <class T>
TUTTI_API inline constinit thread_local T object_of_thread{};
#endif

// Calls std::atomic_thread_fence. ThreadSanitizer executes fences but does not model them, and GCC
// warns about that. Here this can neither hide a race nor report a false one: the only fences are
// those of sleepers.hpp and of the network's hosts, which decide whether a sleeper is woken and
// publish no data.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
inline void fence(std::memory_order o) noexcept { __atomic_thread_fence(static_cast<int>(o)); }
#pragma GCC diagnostic pop
#else
inline void fence(std::memory_order o) noexcept { std::atomic_thread_fence(o); }
#endif
}  // namespace platform

struct TUTTI_API native : platform::standard_words,
                          platform::parking<platform::futex_scope::process> {
#if defined(TUTTI_COMPILED_LIBRARY)
  // The compiled library announces its atomic operations to ThreadSanitizer. Both types have the
  // same layout and the same operations.
  template <class T>
  using atomic = platform::told_atomic<T>;
#endif
  // Defined in platform/threads.hpp and team/fibers.hpp.
  using threads = platform::system_threads;
  using fiber_group = tutti::fiber_group;

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
  template <class Word, class Changed>
  static void nap(const Word& word, Changed changed) noexcept {
    platform::nap(word, changed);
  }
  static std::uint64_t ticks() noexcept { return platform::ticks(); }

#if TUTTI_HOSTED
  using mutex = platform::system_mutex;
  static void yield() noexcept {
    if (!platform::switch_fiber()) sched_yield();
  }
  static std::uint64_t now_ns() noexcept { return platform::now_ns(); }
  static platform::cpu_hints& core() noexcept { return platform::cpu_hints::here(); }
  static void note_running() noexcept { core().note_running(); }
  // A striped barrier has up to 4 participants on a leaf.
  static std::uint32_t place() noexcept { return platform::current_cpu() / 4; }
  // Defined in platform/usable_cpus.hpp and platform/topology.hpp.
  static inline std::uint32_t cpus() noexcept;
  static inline std::uint32_t cores();
  static double ticks_per_ns() noexcept { return platform::ticks_per_ns(); }
  static int cpu() noexcept { return sched_getcpu(); }
  static void leave_cpu(int number) noexcept {
    if (platform::core_leaver_here == nullptr) return;
    if (number >= 0 && number == cpu()) platform::core_leaver_here->leave();
  }
  template <class T>
  static T& local() noexcept {
    static_assert(std::is_trivially_destructible_v<T>);
    return platform::object_of_thread<T>;
  }
#else
  using mutex = platform::spin_mutex;
  static void yield() noexcept { platform::pause(); }
  static std::uint64_t now_ns() noexcept { return 0; }
  static platform::cpu_hints& core() noexcept { return platform::cpu_hints::here(); }
  static std::uint32_t place() noexcept { return 0; }
  // Every core belongs to its thread.
  static constexpr std::uint32_t cpus() noexcept { return UINT32_MAX; }
  template <class T>
  static T& local() noexcept {
    static T object{};
    return object;
  }
#endif
};

}  // namespace tutti
