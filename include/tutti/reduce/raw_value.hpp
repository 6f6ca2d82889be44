// SPDX-License-Identifier: Apache-2.0
// A slot for a value of any small trivially copyable type, for the cache lines of objects that
// serve many types.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace tutti {

template <std::size_t Bytes>
class alignas(8) raw_value {
 public:
  template <class T>
  static constexpr bool fits = std::is_trivially_copyable_v<T> && sizeof(T) <= Bytes &&
                               alignof(T) <= 8;

  // Writes the bytes of `value` and leaves the rest of the slot unchanged.
  template <class T>
  raw_value& operator=(const T& value) noexcept {
    static_assert(fits<T>);
    // An empty value has one byte, which holds nothing.
    if constexpr (!std::is_empty_v<T>) std::memcpy(bytes_, &value, sizeof(T));
    return *this;
  }
  template <class T>
  explicit operator T() const noexcept {
    static_assert(fits<T>);
    struct copy {
      alignas(T) std::byte bytes[sizeof(T)];
    } from;
    std::memcpy(from.bytes, bytes_, sizeof(T));
    return __builtin_bit_cast(T, from);
  }

 private:
  std::byte bytes_[Bytes];
};

namespace detail {

// A value that travels on the line of a flag: 64 bytes less the flag and its alignment.
using line_value = raw_value<56>;

}  // namespace detail

}  // namespace tutti
