// SPDX-License-Identifier: Apache-2.0
// The platform of a simulated machine: tutti's templates run on it as they are.
//
//   sim::world world(machine, {});
//   world.run([] { tutti::basic_team<sim::simulated> team(64); team.run(...); });
//
// Outside of a world its operations are those of plain variables and take no time, so that objects
// can be made before a run and destroyed after it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "hardware/machine/software/wide_atomic.hpp"
#include "sim/platform_of_fibers.hpp"
#include "sim/world.hpp"

namespace tutti::sim {

// An atomic word of the size of T.
template <class T>
class simulated_atomic : public atomic_updates<simulated_atomic<T>, T> {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);

 public:
  constexpr simulated_atomic(T value = T()) noexcept : value_(value) {}
  simulated_atomic(const simulated_atomic&) = delete;
  simulated_atomic& operator=(const simulated_atomic&) = delete;

  T load(std::memory_order) const noexcept {
    world* const w = world::current();
    if (w == nullptr) return value_;
    const std::uint64_t bits = w->load(&value_, sizeof value_);
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  void store(T value, std::memory_order order) noexcept {
    world* const w = world::current();
    if (w == nullptr) {
      value_ = value;
      return;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    w->store(&value_, bits, sizeof value_, order == std::memory_order_seq_cst);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure) noexcept {
    return this->compare_exchange_strong(expected, desired, success, failure);
  }

 private:
  friend atomic_updates<simulated_atomic, T>;
  template <class Change>
  T change(Change to) noexcept {
    world* const w = world::current();
    if (w != nullptr) w->own(&value_);
    const T old = value_;
    value_ = to(old);
    if (w != nullptr) w->change_done(&value_, !(value_ == old));
    return old;
  }
  T value_;
};

// Data that algorithms publish through an atomic word. Its bytes change at once, and its lines go
// the way of any other.
template <class T>
class simulated_plain {
 public:
  constexpr simulated_plain(T value = T()) noexcept : value_(value) {}
  operator T() const noexcept { return value_read(); }
  // For values that convert to what they hold (raw_value).
  template <class U>
  requires(!std::is_same_v<T, U> && std::is_class_v<T>) explicit operator U() const noexcept {
    return static_cast<U>(value_read());
  }
  template <class U>
  requires std::is_assignable_v<T&, const U&> simulated_plain& operator=(const U& value) noexcept {
    if (world* const w = world::current()) w->write_data(&value_, sizeof(U));
    value_ = value;
    return *this;
  }

 private:
  const T& value_read() const noexcept {
    if (world* const w = world::current()) w->read_data(&value_, sizeof value_);
    return value_;
  }
  T value_;
};

// The lock of glibc's pthread_mutex_t: 0 is free, 1 is taken, 2 is taken and others sleep.
class simulated_mutex {
 public:
  void lock() noexcept;
  void unlock() noexcept;

 private:
  simulated_atomic<std::uint32_t> state_{0};
};

struct simulated : platform_of_fibers<world, simulated_atomic> {
  // The cells of message rings cost nothing: readers get their address.
  template <class T>
  using plain = std::conditional_t<std::is_same_v<T, std::uint64_t>, T, simulated_plain<T>>;
  using mutex = simulated_mutex;

  static std::memory_order order(const char* site, std::memory_order o) noexcept {
    if (world* const w = world::current()) w->note_site(site);
    return o;
  }
  static void fence(const char*, std::memory_order) noexcept {
    if (world* const w = world::current()) w->fence();
  }
  static void relax() noexcept {
    if (world* const w = world::current()) w->relax();
  }
  static void relax_long() noexcept { relax(); }
  static void yield() noexcept {
    if (world* const w = world::current()) w->yield();
  }
  template <class T>
  static void park(const simulated_atomic<T>& word, T seen, std::uint64_t deadline_ns) noexcept {
    if (world* const w = world::current())
      w->sleep(&word, sizeof word, static_cast<std::uint64_t>(seen),
               deadline_ns > UINT64_MAX / 1000 ? UINT64_MAX : deadline_ns * 1000);
  }
  template <class Word, class Changed>
  static void nap(const Word&, Changed changed) noexcept {
    world* const w = world::current();
    if (w != nullptr && !changed()) w->wait_for_change();
  }
  static std::uint64_t now_ns() noexcept {
    world* const w = world::current();
    if (w == nullptr) return 0;
    w->spend(w->hardware().clock);
    return w->now() / 1000;
  }
  static std::uint64_t ticks() noexcept { return now_ns(); }

  // A quota counts as on a real machine (platform/usable_cpus.hpp): 1.5 CPUs are 2.
  static std::uint32_t cpus() noexcept {
    world* const w = world::current();
    const double quota = w != nullptr ? w->quota_cpus() : made_for_quota;
    const std::uint32_t all = hardware().cpus();
    return quota <= 0 || quota >= all ? all
                                      : std::max(1u, static_cast<std::uint32_t>(std::ceil(quota)));
  }
  static std::uint32_t cores() noexcept { return hardware().all_cores(); }
  // The cluster of the CPU on which a thread runs.
  static unsigned cluster_of(rank_t thread);
  // The ranks that follow each other in one cluster.
  static std::vector<rank_t> cache_groups(rank_t n);
  static int cpu() noexcept {
    world* const w = world::current();
    return w == nullptr ? 0 : static_cast<int>(w->cpu());
  }
  static std::uint32_t place() noexcept { return static_cast<std::uint32_t>(cpu()) / 4; }

  static cpu_notes& core() noexcept { return world::current()->notes(); }
  static void note_running() noexcept { core().note_running(); }

  // The machine and the quota that cpus(), cores() and cache_groups() describe outside of a world:
  // objects are made before their world runs.
  class making_for {
   public:
    explicit making_for(const machine& m, double quota_cpus = 0) noexcept
        : before_(std::exchange(made_for, &m)),
          quota_before_(std::exchange(made_for_quota, quota_cpus)) {}
    ~making_for() {
      made_for = before_;
      made_for_quota = quota_before_;
    }
    making_for(const making_for&) = delete;
    making_for& operator=(const making_for&) = delete;

   private:
    const machine* before_;
    double quota_before_;
  };

  // The machine that runs, or for which objects are made.
  static const machine& hardware() noexcept {
    world* const w = world::current();
    return w != nullptr ? w->hardware() : *made_for;
  }

 private:
  static inline const machine* made_for = nullptr;
  static inline double made_for_quota = 0;
};

// The platform of a machine whose core has atomic instructions of 32 bits only, as the programs of
// hardware/machine have it.
struct narrow_simulated : simulated {
  // A pointer has 32 bits there.
  template <class T>
  using atomic = std::conditional_t<(sizeof(T) > 4 && !std::is_pointer_v<T>),
                                    rtl::wide_atomic<T, simulated_atomic>, simulated_atomic<T>>;
  template <class T>
  using setting = atomic<T>;

  // There is no operating system, so that all waits poll.
  static constexpr bool can_park = false;
  template <class Word, class Value>
  static void park(const Word&, Value, std::uint64_t) noexcept {
    relax();
  }
  template <class Word>
  static void unpark(const Word&) noexcept {}
  template <class Word>
  static void unpark_one(const Word&) noexcept {}
};

}  // namespace tutti::sim
