// SPDX-License-Identifier: Apache-2.0
// A value for each virtual rank, side by side whatever its type: a thread writes those of its ranks and reads the others',
// so that fewer lines are fewer transfers.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "tutti/platform/array.hpp"
#include "tutti/reduce/raw_value.hpp"

namespace tutti::detail {

class compact_values {
 public:
  compact_values() = default;
  explicit compact_values(rank_t ranks) : values_(std::make_unique<array<line_value>>(ranks)) {}

  // In one use all ranks put values of the same type.
  template <class T>
  void put(rank_t rank, const T& value) noexcept {
    static_assert(line_value::fits<T>);
    std::memcpy(first() + rank * sizeof(T), &value, sizeof(T));
  }
  // A function of the rank.
  template <class T>
  auto get() const noexcept {
    return [from = first()](rank_t rank) {
      constexpr std::size_t size =
          sizeof(T);  // named: for T = std::byte* a compiler would suspect a mistake
      struct copy {
        alignas(T) std::byte bytes[size];
      } value;
      std::memcpy(value.bytes, from + rank * size, size);
      return __builtin_bit_cast(T, value);
    };
  }

  // All of them, which are T or arrays of T.
  template <class T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(first());
  }

 private:
  std::byte* first() const noexcept { return reinterpret_cast<std::byte*>(values_->begin()); }

  std::unique_ptr<array<line_value>> values_;
};

}  // namespace tutti::detail
