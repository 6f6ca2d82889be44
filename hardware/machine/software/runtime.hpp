// SPDX-License-Identifier: Apache-2.0
// What the programs share: the heap, the common start, delays and random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "hardware/machine/software/machine.h"
#include "tutti/platform/config.hpp"

namespace tutti::rtl {

// The heap only grows; whoever makes the objects of a case empties it first. One core at a time.
void empty_heap() noexcept;
void* allocate(std::size_t size, std::size_t alignment) noexcept;

// Makes an object on the heap, on a cache line of its own.
template <class T, class... Arguments>
T* make(Arguments... arguments) {
  constexpr std::size_t alignment = alignof(T) < cache_line ? cache_line : alignof(T);
  return ::new (allocate(sizeof(T), alignment)) T(arguments...);
}

// The start and the end of a case, for `n` threads. It is none of the barriers that are tested:
// one counter that only grows.
class gate {
 public:
  // Inline, because GCC 12 (-fipa-reference) moves loads of static variables across a call that
  // does not write them, even if it acquires.
  [[gnu::always_inline]] void pass(std::uint32_t n) noexcept {
    // acq_rel: publishes what this thread wrote before, and passes it on with the count.
    const std::uint32_t mine = count_.fetch_add(1, acq_rel);
    const std::uint32_t end = (mine / n + 1) * n;
    // acquire: pairs with the others' arrivals through the release sequence of the count.
    while (static_cast<std::int32_t>(count_.load(acquire) - end) < 0) {
    }
  }

 private:
  alignas(cache_line) std::atomic<std::uint32_t> count_{0};
};

inline void delay(std::uint32_t steps) noexcept {
  for (std::uint32_t i = 0; i < steps; ++i) asm volatile("" ::: "memory");
}

class random_numbers {
 public:
  explicit random_numbers(std::uint32_t seed) noexcept : x_(seed * 2654435761u | 1) {}
  std::uint32_t operator()() noexcept {
    x_ ^= x_ << 13;
    x_ ^= x_ >> 17;
    x_ ^= x_ << 5;
    return x_;
  }

 private:
  std::uint32_t x_;
};

}  // namespace tutti::rtl
