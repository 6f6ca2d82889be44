// SPDX-License-Identifier: Apache-2.0
// Atomic words of 64 bits on a core whose atomic instructions have 32: a lock beside the word, on
// its cache line, as a C++ library has it for types that the processor does not support. A load
// takes no lock: a version tells whether a store came in between, so waiters poll their own copy
// of the line.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::rtl {

// `Word` is a platform's atomic word of 32 bits.
template <class T, template <class> class Word = std::atomic>
class alignas(16) wide_atomic {
  static_assert(sizeof(T) == 8);

 public:
  wide_atomic() = default;
  constexpr wide_atomic(T value) : low_(low(value)), high_(high(value)) {}
  wide_atomic(const wide_atomic&) = delete;
  wide_atomic& operator=(const wide_atomic&) = delete;

  T load(std::memory_order) const noexcept {
    for (;;) {
      // acquire: the halves are read after the version.
      const std::uint32_t before = version_.load(std::memory_order_acquire);
      // acquire: the version is read again after the halves, and what the last writer published is
      // seen, whichever order the caller asks for.
      const T value =
          join(low_.load(std::memory_order_acquire), high_.load(std::memory_order_acquire));
      // relaxed: the loads above are before it.
      if (before % 2 == 0 && version_.load(std::memory_order_relaxed) == before) return value;
    }
  }
  void store(T value, std::memory_order) noexcept {
    const std::uint32_t version = lock();
    set(value, version);
  }
  T exchange(T value, std::memory_order) noexcept {
    return change([value](T) noexcept { return value; });
  }
  T fetch_add(T value, std::memory_order) noexcept {
    return change([value](T old) noexcept { return old + value; });
  }
  T fetch_sub(T value, std::memory_order) noexcept {
    return change([value](T old) noexcept { return old - value; });
  }
  bool compare_exchange_strong(T& expected, T value, std::memory_order,
                               std::memory_order) noexcept {
    const std::uint32_t version = lock();
    const T old = get();
    const bool is_equal = old == expected;
    set(is_equal ? value : old, version);
    expected = old;
    return is_equal;
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order good,
                             std::memory_order bad) noexcept {
    return compare_exchange_strong(expected, value, good, bad);
  }

 private:
  static constexpr std::uint32_t low(T v) noexcept { return static_cast<std::uint32_t>(v); }
  static constexpr std::uint32_t high(T v) noexcept { return static_cast<std::uint32_t>(v >> 32); }
  static constexpr T join(std::uint32_t low, std::uint32_t high) noexcept {
    return static_cast<T>(high) << 32 | low;
  }

  template <class Change>
  T change(Change next) noexcept {
    const std::uint32_t version = lock();
    const T old = get();
    set(next(old), version);
    return old;
  }

  // The version is odd while a writer has the lock. Returns the odd one.
  std::uint32_t lock() noexcept {
    for (;;) {
      // relaxed: the exchange decides.
      std::uint32_t seen = version_.load(std::memory_order_relaxed);
      if (seen % 2 != 0) continue;
      // acq_rel: acquire pairs with the unlock of set(); release keeps what the caller wrote before
      // ahead of the new halves.
      // relaxed: a failure only tries again.
      if (version_.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel,
                                           std::memory_order_relaxed))
        return seen + 1;
    }
  }
  // relaxed: the lock keeps writers out.
  T get() const noexcept {
    return join(low_.load(std::memory_order_relaxed), high_.load(std::memory_order_relaxed));
  }
  void set(T value, std::uint32_t version) noexcept {
    // release: a reader that sees a new half also sees the odd version.
    low_.store(low(value), std::memory_order_release);
    // release: the same.
    high_.store(high(value), std::memory_order_release);
    // release: publishes the halves; pairs with lock() and load().
    version_.store(version + 1, std::memory_order_release);
  }

  Word<std::uint32_t> version_{0}, low_{0}, high_{0};
};

}  // namespace tutti::rtl
