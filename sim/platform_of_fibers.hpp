// SPDX-License-Identifier: Apache-2.0
// What platforms share whose threads are the fibers of a world: `simulated` (sim/simulated.hpp) and
// `fibered` (tests/platform/fibered.hpp).
//
// A World has these functions:
//   World::current()         the world of the running thread, or null outside of a run
//   start(body), join(number)
//                            starts a thread and returns its number; waits for its end
//   wake(address, how_many)  wakes threads that sleep at the address
//   locals()                 the running thread's objects
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/platform/standard_words.hpp"
#include "tutti/platform/topology.hpp"
#include "tutti/team/no_fibers.hpp"

namespace tutti::sim {

// The objects of one thread, one for each type.
class objects_of_thread {
 public:
  template <class T>
  T& get() {
    static const std::size_t number = next_number++;
    if (objects_.size() <= number) objects_.resize(number + 1);
    std::shared_ptr<void>& mine = objects_[number];
    if (mine == nullptr) mine = std::make_shared<T>();
    return *static_cast<T*>(mine.get());
  }

 private:
  static inline std::size_t next_number = 0;
  std::vector<std::shared_ptr<void>> objects_;
};

// The threads of a team.
template <class World>
class threads_of_world {
 public:
  void start(rank_t count, platform::placement, void (*body)(void* context, rank_t thread),
             void* context) {
    for (rank_t thread = 1; thread < count; ++thread)
      numbers_.push_back(
          World::current()->start([body, context, thread] { body(context, thread); }));
  }
  bool has_started() const noexcept { return !numbers_.empty(); }
  void join() noexcept {
    for (const std::size_t number : numbers_) World::current()->join(number);
    numbers_.clear();
  }

 private:
  std::vector<std::size_t> numbers_;
};

// The updates of an atomic word, which all are Derived's change(f): it replaces the value by
// f(value) and returns the value before.
template <class Derived, class T>
class atomic_updates {
 public:
  T exchange(T value, std::memory_order) noexcept {
    return change([&](T) { return value; });
  }
  T fetch_add(T by, std::memory_order) noexcept {
    return change([&](T old) { return static_cast<T>(old + by); });
  }
  T fetch_sub(T by, std::memory_order) noexcept {
    return change([&](T old) { return static_cast<T>(old - by); });
  }
  T fetch_or(T bits, std::memory_order) noexcept {
    return change([&](T old) { return static_cast<T>(old | bits); });
  }
  T fetch_and(T bits, std::memory_order) noexcept {
    return change([&](T old) { return static_cast<T>(old & bits); });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order,
                               std::memory_order) noexcept {
    const T wanted = expected;
    expected = change([&](T old) { return old == wanted ? desired : old; });
    return expected == wanted;
  }

 private:
  template <class Change>
  T change(Change to) noexcept {
    return static_cast<Derived&>(*this).change(to);
  }
};

template <class World, template <class> class Atomic>
struct platform_of_fibers : platform::words<Atomic> {
  using threads = threads_of_world<World>;
  using fiber_group = no_fibers;
  static constexpr bool can_park = true;

  template <class T>
  static void unpark(const Atomic<T>& word) noexcept {
    if (World* const world = World::current()) world->wake(&word, UINT_MAX);
  }
  template <class T>
  static void unpark_one(const Atomic<T>& word) noexcept {
    if (World* const world = World::current()) world->wake(&word, 1);
  }
  static double ticks_per_ns() noexcept { return 1; }
  static void leave_cpu(int) noexcept {}

  template <class T>
  static T& local() noexcept {
    static T outside{};
    World* const world = World::current();
    return world == nullptr ? outside : world->locals().template get<T>();
  }
};

}  // namespace tutti::sim
