// SPDX-License-Identifier: Apache-2.0
// A value for each virtual rank. Values of any type are packed, because a thread writes the values
// of its ranks and reads those of the others: fewer cache lines are fewer transfers.
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

  // Stores the value of a rank. Between two synchronisations all ranks must put values of the same
  // type.
  template <class T>
  void put(rank_t rank, const T& value) noexcept {
    static_assert(line_value::fits<T>);
    std::memcpy(first() + rank * sizeof(T), &value, sizeof(T));
  }
  // Returns a function that returns the value of a rank.
  template <class T>
  auto get() const noexcept {
    return [from = first()](rank_t rank) {
      // The size has a name because for T = std::byte* a compiler would warn about sizeof(T) below.
      constexpr std::size_t size = sizeof(T);
      struct copy {
        alignas(T) std::byte bytes[size];
      } value;
      std::memcpy(value.bytes, from + rank * size, size);
      return __builtin_bit_cast(T, value);
    };
  }

  // Returns the first of all values, which must be T or arrays of T.
  template <class T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(first());
  }

 private:
  std::byte* first() const noexcept { return reinterpret_cast<std::byte*>(values_->begin()); }

  std::unique_ptr<array<line_value>> values_;
};

}  // namespace tutti::detail
