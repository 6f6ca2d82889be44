// SPDX-License-Identifier: Apache-2.0
// The platform of this machine for tutti's algorithms (tutti/platform/native.hpp lists what a
// platform has): every thread has a core of its own, there is no operating system that could run
// another one, and the clock is the machine's, in cycles that count as nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "hardware/machine/software/machine.h"
#include "hardware/machine/software/wide_atomic.hpp"
#include "tutti/platform/array.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::rtl {

// The number of the core that executes this, which its thread keeps in a register.
inline std::uint32_t this_core() noexcept {
  std::uint32_t core;
  asm("mv %0, tp" : "=r"(core));
  return core;
}

// A lock of one word. Waiters poll their own copy of its line.
class spin_lock {
 public:
  void lock() noexcept {
    // acquire: pairs with unlock, so that what the last owner wrote is seen.
    while (locked_.exchange(1, acquire) != 0)
      // relaxed: the exchange decides.
      while (locked_.load(relaxed) != 0) {
      }
  }
  // release: publishes what was written under the lock to the next owner.
  void unlock() noexcept { locked_.store(0, release); }

 private:
  std::atomic<std::uint32_t> locked_{0};
};

// The sizes of the groups of `n` threads that share a socket, from thread 0 on.
class socket_groups {
 public:
  explicit socket_groups(std::uint32_t n) noexcept {
    const std::uint32_t each = cores_of_socket();
    for (std::uint32_t left = n; left > 0; ++count_) {
      sizes_[count_] = left < each ? left : each;
      left -= sizes_[count_];
    }
  }
  std::size_t size() const noexcept { return count_; }
  std::uint32_t operator[](std::size_t i) const noexcept { return sizes_[i]; }
  const std::uint32_t* begin() const noexcept { return sizes_; }
  const std::uint32_t* end() const noexcept { return sizes_ + count_; }

 private:
  std::uint32_t sizes_[4]{};
  std::size_t count_ = 0;
};

struct machine {
  // The core has atomic instructions for words of 32 bits.
  template <class T>
  using atomic = std::conditional_t<(sizeof(T) > 4), wide_atomic<T>, std::atomic<T>>;
  template <class T>
  using setting = atomic<T>;
  template <class T>
  using plain = T;
  using mutex = spin_lock;

  static constexpr std::memory_order order(const char* /*site*/, std::memory_order o) noexcept {
    return o;
  }
  static void fence(const char* /*site*/, std::memory_order o) noexcept {
    std::atomic_thread_fence(o);
  }

  // A poll hits the core's own copy of the line until somebody writes it: it needs no pause.
  static void relax() noexcept { asm volatile("" ::: "memory"); }
  static void relax_long() noexcept { relax(); }
  static void yield() noexcept { relax(); }
  static constexpr bool can_park = false;
  template <class Word, class Value>
  static void park(const Word&, Value, std::uint64_t) noexcept {
    relax();
  }
  template <class Word>
  static void unpark(const Word&) noexcept {}
  template <class Word>
  static void unpark_one(const Word&) noexcept {}
  template <class Word, class Changed>
  static void nap(const Word&, Changed changed) noexcept {
    if (!changed()) relax();
  }

  static std::uint64_t now_ns() noexcept { return machine_time(); }
  static std::uint64_t ticks() noexcept { return machine_time(); }
  static double ticks_per_ns() noexcept { return 1; }

  static std::uint32_t place() noexcept { return THIS_SOCKET; }
  static socket_groups cache_groups(rank_t n) noexcept { return socket_groups(n); }
  static std::uint32_t cpus() noexcept { return CORES; }
  static std::uint32_t cores() noexcept { return CORES; }
  static int cpu() noexcept { return static_cast<int>(this_core()); }
  static void leave_cpu(int) noexcept {}

  // The object of type T of the running thread.
  template <class T>
  static T& local() noexcept {
    struct alignas(CACHE_LINE) own {
      T object{};
    };
    static constinit own objects[MOST_CORES]{};
    return objects[this_core()].object;
  }
};

}  // namespace tutti::rtl
