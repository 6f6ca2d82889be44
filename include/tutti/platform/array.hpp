// SPDX-License-Identifier: Apache-2.0
// A fixed-size array of objects that cannot be moved, such as atomics. It keeps their alignment and
// needs no hosted library.
#pragma once

#include <cstddef>
#include <new>

#include "tutti/platform/config.hpp"

namespace tutti {

// A value on a cache line of its own.
template <class T>
struct alignas(cache_line) padded {
  T value{};
};

// `size` value-initialised objects. Throws std::bad_alloc if there is no memory.
template <class T>
class array {
 public:
  explicit array(std::size_t size)
      : size_(size), items_(static_cast<T*>(::operator new(size * sizeof(T), alignment()))) {
    for (std::size_t i = 0; i < size_; ++i) ::new (static_cast<void*>(items_ + i)) T();
  }
  ~array() {
    for (std::size_t i = size_; i > 0; --i) items_[i - 1].~T();
    ::operator delete(items_, alignment());
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;

  T& operator[](std::size_t i) noexcept { return items_[i]; }
  const T& operator[](std::size_t i) const noexcept { return items_[i]; }
  std::size_t size() const noexcept { return size_; }
  T* begin() noexcept { return items_; }
  T* end() noexcept { return items_ + size_; }

 private:
  // The array begins on a cache line, so that the allocator does not decide which elements share
  // one.
  static constexpr std::align_val_t alignment() noexcept {
    return std::align_val_t{alignof(T) < cache_line ? cache_line : alignof(T)};
  }

  std::size_t size_;
  T* items_;
};

}  // namespace tutti
