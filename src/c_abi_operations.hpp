// SPDX-License-Identifier: Apache-2.0
// Functions on arrays for each tutti_type and tutti_operation. Values of a type that is known only
// at run time travel as packets of bytes, and such a function combines them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tutti.h"
#include "tutti/platform/config.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti::c_abi {

// One operation on one type. Arrays need no alignment, because they may lie inside packets.
struct operation {
  // The size of a value in bytes.
  std::size_t size = 0;
  void (*combine)(std::byte* into, const std::byte* from, std::size_t count) = nullptr;
  void (*fill_identity)(std::byte* values, std::size_t count) = nullptr;
  void (*make_canonical)(std::byte* values, std::size_t count) = nullptr;
};

// Returns null if `type` is no tutti_type, or if `operation` does not apply to it.
const operation* find_operation(int type, int operation) noexcept;

template <std::size_t Bytes>
struct alignas(8) packet {
  std::byte bytes[Bytes];

  // Copies `count` bytes. The bytes beyond them are indeterminate, and copies of the packet copy
  // them too.
  static packet of(const void* values, std::size_t count) noexcept {
    packet p;
    std::memcpy(p.bytes, values, count);
    return p;
  }
};

// A packet that shares a cache line with a flag of 4 or 8 bytes, and a smaller one for one or two
// doubles.
inline constexpr std::size_t packet_bytes = 56, small_packet_bytes = 16;

// An operation on packets that hold `count` values.
struct combine_packets {
  const operation* op;
  std::size_t count;

  template <std::size_t Bytes>
  packet<Bytes> operator()(packet<Bytes> a, const packet<Bytes>& b) const noexcept {
    op->combine(a.bytes, b.bytes, count);
    return a;
  }
};

// Combines the arrays row(0) .. row(rows-1) in the order of all reductions and writes the values
// first .. last-1 to `into`.
template <class Row>
void combine_rows(const operation& op, rank_t rows, Row row, std::size_t first, std::size_t last,
                  std::byte* into) noexcept {
  using chunk = packet<2048>;
  const std::size_t most = sizeof(chunk) / op.size;
  for (std::size_t from = first; from < last; from += most) {
    const std::size_t count = std::min(most, last - from);
    const std::size_t at = from * op.size, bytes = count * op.size;
    chunk sum = schedule::fold(
        0, rows, [&](rank_t r) { return chunk::of(row(r) + at, bytes); },
        combine_packets{&op, count});
    op.make_canonical(sum.bytes, count);
    std::memcpy(into + at, sum.bytes, bytes);
  }
}

}  // namespace tutti::c_abi
