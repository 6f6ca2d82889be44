// SPDX-License-Identifier: Apache-2.0
// A platform without an operating system: its threads are fibers of one thread, its clock counts
// steps, and its sleep is a list of sleepers. Each atomic operation is a step, at which a seeded
// generator may let another thread run. The same seed gives the same run.
//
//   fibered_world world({.cpus = 4, .seed = 1});
//   world.run([] { tutti::basic_team<fibered> team(4); team.run(...); });
//
// run() reports on stderr and aborts the program if all threads sleep, or if none gets anywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "sim/platform_of_fibers.hpp"
#include "src/team/fiber_context.hpp"
#include "tutti/platform/undisturbed_cpu.hpp"

namespace tutti::test {

struct fibered_options {
  std::uint32_t cpus = 4;
  std::uint64_t seed = 1;
  // One of this many steps lets another thread run.
  std::uint32_t steps_between_switches = 4;
};

class fibered_world {
 public:
  explicit fibered_world(fibered_options options);
  ~fibered_world();
  fibered_world(const fibered_world&) = delete;
  fibered_world& operator=(const fibered_world&) = delete;

  // Runs the body as thread 0 and returns when all threads have ended.
  void run(std::function<void()> body);

  std::uint64_t now() const noexcept { return now_; }
  std::uint64_t steps() const noexcept { return steps_; }
  // A number that depends on which thread took each step.
  std::uint64_t trace() const noexcept { return trace_; }

  // ---- for the platform

  // The world of the running thread, or null outside of run().
  static fibered_world* current() noexcept { return current_; }

  const fibered_options& options() const noexcept { return options_; }
  // Takes a step, which lasts `ns` nanoseconds.
  void step(std::uint64_t ns) noexcept;
  // Takes a step and lets another thread run, if one can.
  void yield(std::uint64_t ns) noexcept;
  // Sleeps until another thread wakes `address`, or until the clock reaches `until`.
  void sleep(const void* address, std::uint64_t until) noexcept;
  void wake(const void* address, unsigned how_many) noexcept;
  // Starts a thread and returns its number.
  std::size_t start(std::function<void()> body);
  void join(std::size_t number) noexcept;
  std::size_t running() const noexcept { return running_; }
  bool one_of(std::uint32_t n) noexcept { return random_() % n == 0; }
  sim::objects_of_thread& locals() noexcept;

 private:
  struct thread;

  static void begin();
  void switch_to(std::size_t next) noexcept;
  // Chooses among the threads that can run, and moves the clock if all sleep.
  std::size_t choose() noexcept;
  [[noreturn]] void give_up(const char* why) const noexcept;

  static inline fibered_world* current_ = nullptr;

  const fibered_options options_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<thread>> threads_;
  std::unique_ptr<thread> outside_;
  std::size_t running_ = 0;
  std::uint64_t now_ = 1'000'000'000, steps_ = 0, trace_ = 0;
};

// An atomic word of the size of T. Outside of a world its operations are no steps.
template <class T>
class fibered_atomic : public sim::atomic_updates<fibered_atomic<T>, T> {
 public:
  constexpr fibered_atomic(T value = T()) noexcept : value_(value) {}
  fibered_atomic(const fibered_atomic&) = delete;
  fibered_atomic& operator=(const fibered_atomic&) = delete;

  T load(std::memory_order) const noexcept {
    step();
    return value_;
  }
  void store(T value, std::memory_order) noexcept {
    step();
    value_ = value;
  }
  // Sometimes fails for no reason.
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    fibered_world* const world = fibered_world::current();
    if (world != nullptr && world->one_of(8)) {
      step();
      expected = value_;
      return false;
    }
    return this->compare_exchange_strong(expected, desired, success, failure);
  }

 private:
  friend sim::atomic_updates<fibered_atomic, T>;
  static void step() noexcept {
    if (fibered_world* const world = fibered_world::current()) world->step(10);
  }
  template <class Change>
  T change(Change to) noexcept {
    step();
    const T old = value_;
    value_ = to(old);
    return old;
  }
  T value_;
};

class fibered_mutex {
 public:
  void lock() noexcept {
    while (locked_.exchange(true, std::memory_order_acquire))
      if (fibered_world* const world = fibered_world::current()) world->yield(100);
  }
  void unlock() noexcept { locked_.store(false, std::memory_order_release); }

 private:
  fibered_atomic<bool> locked_{false};
};

// What the wait policies learn of a CPU. A waiter that finds another thread's number has company.
class fibered_cpu : public platform::undisturbed_cpu {
 public:
  bool visited_by_another() noexcept {
    const std::size_t last = last_waiter_;
    last_waiter_ = fibered_world::current()->running() + 1;
    return last != 0 && last != last_waiter_;
  }
  void note_wait() noexcept { ++waits_; }
  std::uint32_t waits() const noexcept { return waits_; }

 private:
  // The number of the thread that waited last, plus 1, or 0.
  std::size_t last_waiter_ = 0;
  std::uint32_t waits_ = 0;
};

struct fibered : sim::platform_of_fibers<fibered_world, fibered_atomic> {
  using mutex = fibered_mutex;

  static constexpr std::memory_order order(const char*, std::memory_order o) noexcept { return o; }
  static void fence(const char*, std::memory_order) noexcept { step(20); }
  static void relax() noexcept { yield(40); }
  static void relax_long() noexcept { yield(40); }
  static void yield() noexcept { yield(500); }
  template <class T>
  static void park(const fibered_atomic<T>& word, T seen, std::uint64_t deadline_ns) noexcept {
    if (fibered_world* const w = fibered_world::current())
      if (word.load(std::memory_order_seq_cst) == seen) w->sleep(&word, deadline_ns);
  }
  template <class Word, class Changed>
  static void nap(const Word&, Changed changed) noexcept {
    if (!changed()) yield(1000);
  }
  static std::uint64_t now_ns() noexcept {
    step(25);
    return fibered_world::current() != nullptr ? fibered_world::current()->now() : 0;
  }
  static std::uint64_t ticks() noexcept { return now_ns(); }

  static std::uint32_t cpus() noexcept { return fibered_world::current()->options().cpus; }
  static std::uint32_t cores() noexcept { return cpus(); }
  static std::vector<rank_t> cache_groups(rank_t n) {
    // Two CPUs share a cache.
    std::vector<rank_t> sizes;
    for (; n > 0; n -= sizes.back()) sizes.push_back(n < 2 ? n : 2);
    return sizes;
  }
  static int cpu() noexcept {
    return static_cast<int>(fibered_world::current()->running() % cpus());
  }
  static std::uint32_t place() noexcept { return static_cast<std::uint32_t>(cpu()) / 2; }

  using hints = fibered_cpu;
  static constexpr unsigned most_cpus = 64;
  static hints (&all_hints() noexcept)[most_cpus] {
    static hints of_cpus[most_cpus];
    return of_cpus;
  }
  static hints& core() noexcept { return all_hints()[static_cast<unsigned>(cpu()) % most_cpus]; }

 private:
  static void step(std::uint64_t ns) noexcept {
    if (fibered_world* const world = fibered_world::current()) world->step(ns);
  }
  static void yield(std::uint64_t ns) noexcept {
    if (fibered_world* const world = fibered_world::current()) world->yield(ns);
  }
};

}  // namespace tutti::test
