// SPDX-License-Identifier: Apache-2.0
// Ring: a lock-free queue of messages of any size from one participant to another.
//
// Consecutive messages of one size share a header and form a run. The writer fills an open run
// privately and publishes its position once per batch. The reader reads a run's header once, then
// steps through its messages. A small message therefore costs its own 8 bytes and a few
// instructions, and the line with the positions moves once in hundreds of bytes.
//
//   cell       0        1 .. 8          9        10 .. 11     (8 bytes each)
//              header   8 x 8 bytes     header   1 x 16 bytes        ^ published
//
// Cost       One line transfer per 64 bytes of messages, and one per batch for the position. A lone
//            message costs two transfers, which overlap.
// Room       A ring has room for a message of 64 bytes as soon as all earlier messages are
//            released. Room is reused in order: a message that is held back keeps the room of those
//            received after it.
// Layout     Cells and lines hold no address, so they may lie in memory that two processes map at
//            different places. Only messages above largest_inside() leave an address in the ring;
//            they work within one process only.
// Waiting    A writer without room sets want_room before it sleeps. The reader gives room back a
//            quarter of the ring at a time, and then checks whether the writer waits for it. Both
//            operations are seq_cst, so at least one side sees the other. The price is an exchange
//            in place of a store, and a load, per quarter of a ring.
// Source     Lamport 1977 for the queue. Each side keeps the position that it last saw of the
//            other, as in MCRingBuffer (Lee, Bu and Chandranmenon 2010).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tutti/message/received.hpp"
#include "tutti/platform/config.hpp"
#include "tutti/platform/native.hpp"

namespace tutti {

// The line that one participant writes for another: how far it has written the ring to that
// participant, and how far it has emptied the ring from it. Positions are in cells; they start at 0
// and never wrap.
template <class Memory = native>
struct alignas(cache_line) ring_line {
  typename Memory::template atomic<std::uint64_t> published{0};
  typename Memory::template atomic<std::uint64_t> freed{0};
  // Nonzero: this participant may be asleep until there is room in the ring that it writes.
  typename Memory::template atomic<std::uint32_t> wants_room{0};
};

namespace detail {

// The header in front of the messages of a run.
struct run_header {
  enum kind_t : std::uint64_t { run, skip, outside };
  // Bytes of each message.
  std::uint32_t size = 0;
  // Messages in the run.
  std::uint32_t count = 0;
  // skip: the rest of the lap is unused. outside: the cell holds an address.
  kind_t kind = run;
  static constexpr std::uint32_t most = 0xffffff;

  constexpr std::uint64_t packed() const noexcept {
    return std::uint64_t{size} | std::uint64_t{count} << 32 | kind << 56;
  }
  static constexpr run_header of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32) & most,
            static_cast<kind_t>(word >> 56)};
  }
};

// The number of cells that a message takes: at least one, so that an empty message can be counted.
constexpr std::size_t cells_of(std::size_t bytes) noexcept {
  return bytes <= sizeof(std::uint64_t) ? 1 : (bytes + 7) / sizeof(std::uint64_t);
}

// Copies word by word where a cell is more than its bytes (the checked platform).
template <class Cell>
void copy_in(Cell* to, const void* from, std::size_t bytes) noexcept {
  if constexpr (std::is_same_v<Cell, std::uint64_t>) {
    // `from` may be null for an empty message, which memcpy does not allow.
    if (bytes != 0) std::memcpy(to, from, bytes);
  } else {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const std::byte*>(from) + at,
                  (std::min)(bytes - at, sizeof word));
      to[at / sizeof word] = word;
    }
  }
}

}  // namespace detail

// Where a ring lies and how large it is. Both ends must agree on it.
template <class Memory = native>
struct ring_place {
  using cell = typename Memory::template plain<std::uint64_t>;
  cell* cells = nullptr;
  // Cells; a power of two, at least `smallest`.
  std::uint64_t capacity = 0;
  // The line that the writer writes.
  ring_line<Memory>* writers = nullptr;
  // The line that the reader writes.
  ring_line<Memory>* readers = nullptr;

  // The free cells that guarantee room for a message of 64 bytes: its header and its cells, and as
  // many again for the unused end of a lap.
  static constexpr std::uint64_t reserve = 2 * (1 + detail::cells_of(inline_message));
  // The reserve fits into the smallest ring even while the reader has not given back the last cells
  // that it freed, which are less than a quarter of the ring.
  static constexpr std::uint64_t smallest = 32;
  static_assert(smallest > reserve);

  // The largest message that lies in the ring itself, in bytes.
  constexpr std::uint64_t largest_inside() const noexcept {
    return std::max<std::uint64_t>(inline_message, capacity / 4 * sizeof(std::uint64_t));
  }
};

}  // namespace tutti
