// SPDX-License-Identifier: Apache-2.0
// The operations and types of MPI that the preload combines by itself, and the combination of the
// values of many ranks, always in the order of schedule::fold over the ranks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/platform/config.hpp"

namespace tutti::preload {

// What the values of a type are.
enum class kind : std::uint8_t {
  none,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f32,
  f64,
  extended,  // long double
  c32,       // two floats
  c64,       // two doubles
  boolean,   // bool of C
  bytes,     // MPI_BYTE
  text,      // MPI_CHAR and MPI_CHARACTER: no operation is defined on them
};

// find_combine() depends on their order.
enum class operation : std::uint8_t {
  none,
  max,
  min,
  sum,
  product,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
};

// Combines `count` values: left[i] = left[i] op right[i].
using combine = void (*)(void* left, const void* right, std::size_t count) noexcept;

// Returns null if MPI does not define the operation on this kind, or the preload does not serve it.
combine find_combine(operation op, kind k) noexcept;
// The size of a value in bytes.
std::size_t size_of(kind k) noexcept;

}  // namespace tutti::preload
