// SPDX-License-Identifier: Apache-2.0
// Ring: a queue of messages of any size from one participant to another, without a lock.
//
// Messages of one size that follow each other share a header: a run. The writer fills an open run privately, and
// publishes its position once a batch; the reader takes a run's header once, then steps through the messages. So a small
// message costs its own 8 bytes and a few instructions, and the line with the positions moves once in hundreds of bytes.
//
//   cell       0        1 .. 8          9        10 .. 11     (8 bytes each)
//              header   8 x 8 bytes     header   1 x 16 bytes        ^ published
//
// Cost       one line transfer for 64 bytes of messages, one for the position a batch; a lone message: two, overlapped.
// Room       a ring has room for a message of 64 bytes as soon as all before it are released, and is used again in
//            order: a message that is held back keeps the room of those received after it.
// Layout     cells and lines hold no address, so they may lie in memory that two processes map at different places. Only
//            messages above largest_inside() leave an address in the ring: they are for one process.
// Waiting    a writer without room says so (want_room) before it sleeps; the reader gives room back a quarter of the ring at
//            a time, and then looks whether somebody waits for it. The two stand in the one order of seq_cst operations, so
//            that one of them sees the other: an exchange in place of a store, and a look, for each quarter of a ring.
// Source     Lamport 1977 for the queue; positions seen last are kept as in MCRingBuffer (Lee, Bu and Chandranmenon 2010).
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

// What one participant tells another: how far it has written the ring to it, and how far it has emptied the ring from
// it. Counted in cells, from 0 for ever.
template <class Memory = native>
struct alignas(cache_line) ring_line {
  typename Memory::template atomic<std::uint64_t> published{0};
  typename Memory::template atomic<std::uint64_t> freed{0};
  // Not 0: I may be asleep until there is room in the ring that I write.
  typename Memory::template atomic<std::uint32_t> wants_room{0};
};

namespace detail {

// What stands before the messages of a run.
struct run_header {
  enum kind_t : std::uint64_t { run, skip, outside };
  std::uint32_t size = 0;   // bytes of each message
  std::uint32_t count = 0;  // messages
  kind_t kind = run;  // skip: the rest of the lap is unused; outside: the cell holds an address
  static constexpr std::uint32_t most = 0xffffff;

  constexpr std::uint64_t packed() const noexcept {
    return std::uint64_t{size} | std::uint64_t{count} << 32 | kind << 56;
  }
  static constexpr run_header of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32) & most,
            static_cast<kind_t>(word >> 56)};
  }
};

// Cells of a message; one at least, so that an empty one can be counted.
constexpr std::size_t cells_of(std::size_t bytes) noexcept {
  return bytes <= sizeof(std::uint64_t) ? 1 : (bytes + 7) / sizeof(std::uint64_t);
}

// Word by word where a cell is more than its bytes (a checked memory policy).
template <class Cell>
void copy_in(Cell* to, const void* from, std::size_t bytes) noexcept {
  if constexpr (std::is_same_v<Cell, std::uint64_t>) {
    // An empty message may come from nowhere.
    if (bytes != 0) std::memcpy(to, from, bytes);
  } else {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const std::byte*>(from) + at,
                  std::min(bytes - at, sizeof word));
      to[at / sizeof word] = word;
    }
  }
}

}  // namespace detail

// Where a ring lies and how large it is: what its two ends must agree on.
template <class Memory = native>
struct ring_place {
  using cell = typename Memory::template plain<std::uint64_t>;
  cell* cells = nullptr;
  std::uint64_t capacity = 0;            // cells; a power of two, at least smallest
  ring_line<Memory>* writers = nullptr;  // the line that the writer writes
  ring_line<Memory>* readers = nullptr;  // the line that the reader writes

  // Header and message of 64 bytes, as much again for the unused end of a lap, and that twice: one part may still lie
  // with the reader.
  static constexpr std::uint64_t reserve = 2 * (1 + detail::cells_of(inline_message));
  static constexpr std::uint64_t smallest = 32;
  static_assert(smallest > reserve);

  // The largest message that lies in the ring itself, in bytes.
  constexpr std::uint64_t largest_inside() const noexcept {
    return std::max<std::uint64_t>(inline_message, capacity / 4 * sizeof(std::uint64_t));
  }
};

}  // namespace tutti
