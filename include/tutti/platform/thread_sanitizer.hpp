// SPDX-License-Identifier: Apache-2.0
// What the compiled library tells ThreadSanitizer, so that a program that is built with it can use
// the library as it is packaged, without it.
//
// ThreadSanitizer sees the atomic operations of the code that it instruments: the user's program
// and the headers that it includes. Those of the compiled library are hidden from it, and it would
// take each hand-over to a worker for a race. The library therefore announces them: its atomic
// words are told_atomic (platform/native.hpp), and its fibers call switch_to (src/team). The
// functions of ThreadSanitizer are weak symbols: in a program without it they are null, and an
// operation costs one comparison more. User code never contains these comparisons.
#pragma once

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "tutti/export.h"

extern "C" {
TUTTI_API __attribute__((weak)) void __tsan_acquire(void* address);
TUTTI_API __attribute__((weak)) void __tsan_release(void* address);
TUTTI_API __attribute__((weak)) void* __tsan_get_current_fiber();
TUTTI_API __attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
TUTTI_API __attribute__((weak)) void __tsan_destroy_fiber(void* fiber);
TUTTI_API __attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}

namespace tutti::platform {

// Tells whether the program runs under ThreadSanitizer, whatever this source is compiled with.
inline bool under_thread_sanitizer() noexcept { return &__tsan_acquire != nullptr; }

// A std::atomic that announces what its operations order. The announcement of a release comes
// before the operation and that of an acquisition after it, so no order is announced late.
template <class T>
class told_atomic : public std::atomic<T> {
  using base = std::atomic<T>;
  using difference = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

 public:
  using base::base;

  T load(std::memory_order o) const noexcept {
    const T value = base::load(o);
    acquired(o);
    return value;
  }
  void store(T value, std::memory_order o) noexcept {
    releases(o);
    base::store(value, o);
  }
  T exchange(T value, std::memory_order o) noexcept {
    return update(o, [&] { return base::exchange(value, o); });
  }
  T fetch_add(difference by, std::memory_order o) noexcept {
    return update(o, [&] { return base::fetch_add(by, o); });
  }
  T fetch_sub(difference by, std::memory_order o) noexcept {
    return update(o, [&] { return base::fetch_sub(by, o); });
  }
  T fetch_and(T bits, std::memory_order o) noexcept {
    return update(o, [&] { return base::fetch_and(bits, o); });
  }
  T fetch_or(T bits, std::memory_order o) noexcept {
    return update(o, [&] { return base::fetch_or(bits, o); });
  }
  T fetch_xor(T bits, std::memory_order o) noexcept {
    return update(o, [&] { return base::fetch_xor(bits, o); });
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                             std::memory_order failure) noexcept {
    return compare(success, failure,
                   [&] { return base::compare_exchange_weak(expected, value, success, failure); });
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                               std::memory_order failure) noexcept {
    return compare(success, failure, [&] {
      return base::compare_exchange_strong(expected, value, success, failure);
    });
  }

 private:
  template <class Operation>
  T update(std::memory_order o, Operation operation) noexcept {
    releases(o);
    const T before = operation();
    acquired(o);
    return before;
  }
  template <class Operation>
  bool compare(std::memory_order success, std::memory_order failure, Operation operation) noexcept {
    releases(success);
    const bool done = operation();
    acquired(done ? success : failure);
    return done;
  }
  // The address is that of the word, as in instrumented code, so that both see each other.
  void* address() const noexcept { return const_cast<told_atomic*>(this); }
  void acquired(std::memory_order o) const noexcept {
    // relaxed: such an operation orders nothing. release: it makes nothing visible here.
    if (o == std::memory_order_relaxed || o == std::memory_order_release) return;
    if (under_thread_sanitizer()) [[unlikely]]
      __tsan_acquire(address());
  }
  void releases(std::memory_order o) noexcept {
    // relaxed: such an operation orders nothing. acquire: it publishes nothing.
    if (o == std::memory_order_relaxed || o == std::memory_order_acquire) return;
    if (under_thread_sanitizer()) [[unlikely]]
      __tsan_release(address());
  }
};

}  // namespace tutti::platform
