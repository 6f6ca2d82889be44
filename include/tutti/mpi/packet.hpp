// SPDX-License-Identifier: Apache-2.0
// The packets that travel between processes. Packets of messages and small control packets use one
// communicator and one tag, so that one poll finds all of them. In a control packet the items of
// its kind follow the header. A packet of messages is
//
//   header | first record for each thread of the receiving process | records, 8-byte aligned
//
// The records for one thread are chained. Each thread steps through its own records without reading
// the others', so several threads empty one packet without copying it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "tutti/mpi/calls.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::mpi {

enum class packet_kind : std::uint16_t {
  messages = 1,
  // A protocol::control.
  control = 2,
  // Pairs {thread of the receiver, packets}.
  credits = 3,
  // Asks who is idle; sent when a deadline has passed. One participant_status for each thread of
  // the sender.
  ask = 4,
  // One participant_status for each thread of the sender.
  answer = 5,
  // The sender's communicator is being destroyed.
  goodbye = 6,
  // To process 0: the values that the sender's threads gave to the episode that is over.
  values = 7,
  // From process 0: all values combined.
  result = 8,
  // A participant of the sender has left. One participant_status for each thread of the sender.
  departure = 9,
};

struct packet_header {
  // The size of the whole packet.
  std::uint32_t bytes = 0;
  packet_kind kind{};
  // Packets from the receiver's thread 0 that this process has emptied and has not reported yet.
  std::uint16_t credits = 0;
  // In packets of messages the sending participant, otherwise the sending process.
  std::uint32_t source = 0;
  // In packets of messages the number of records.
  std::uint32_t messages = 0;
  // The sender's episode. A receiver that has not been released yet holds the messages back.
  std::uint64_t episode = 0;
};
static_assert(sizeof(packet_header) == 24);

// The header in front of each message's bytes.
struct record_header {
  // The offset in the packet of this thread's next record; 0: none.
  std::uint32_t next = 0;
  // Bytes of the message or of the piece.
  std::uint32_t size = 0;
  // A bit in `size`: this is a piece of a message that is larger than a packet.
  static constexpr std::uint32_t is_piece = 1u << 31;
};
// A piece begins with the size of its whole message.
using whole_size = std::uint64_t;

struct credit_grant {
  std::uint32_t thread = 0;
  std::uint32_t packets = 0;
};

struct participant_status {
  std::uint16_t is_idle = 0;
  // Its deadline has passed, and it has not come to idle() again.
  std::uint16_t is_late = 0;
  // It will not come to idle() again.
  std::uint32_t has_left = 0;
  // Messages received and not released.
  std::uint64_t held = 0;
};

constexpr std::size_t padded_to_8(std::size_t bytes) noexcept {
  return (bytes + 7) & ~std::size_t{7};
}

// A packet in memory, with this process's own notes about it.
class packet {
 public:
  struct destroyer {
    void operator()(packet* p) const noexcept {
      p->~packet();
      ::operator delete (static_cast<void*>(p), std::align_val_t{cache_line});
    }
  };
  using owner = std::unique_ptr<packet, destroyer>;
  static owner make(std::size_t capacity) {
    void* const room = ::operator new (sizeof(packet) + capacity, std::align_val_t{cache_line});
    return owner(::new (room) packet());
  }
  packet(const packet&) = delete;
  packet& operator=(const packet&) = delete;

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  packet_header& header() noexcept { return *reinterpret_cast<packet_header*>(bytes()); }
  // The offsets of the first record for each thread of the receiving process; 0: none.
  std::uint32_t* first_records() noexcept {
    return reinterpret_cast<std::uint32_t*>(bytes() + sizeof(packet_header));
  }
  record_header& record(std::uint32_t offset) noexcept {
    return *reinterpret_cast<record_header*>(bytes() + offset);
  }
  std::byte* payload(std::uint32_t offset) noexcept {
    return bytes() + offset + sizeof(record_header);
  }

  // The next packet in the list of free packets.
  packet* next = nullptr;
  // Valid while MPI uses the packet.
  handle request;
  // Messages in the packet that are not released.
  std::atomic<std::uint32_t> unreleased{0};
  std::uint32_t from_process = 0;

 private:
  packet() = default;
};
static_assert(sizeof(packet) % 8 == 0);

// The offset of the first record in a packet for `threads` receiving threads.
constexpr std::uint32_t records_begin(rank_t threads) noexcept {
  return static_cast<std::uint32_t>(
      padded_to_8(sizeof(packet_header) + std::size_t{threads} * sizeof(std::uint32_t)));
}

}  // namespace tutti::mpi
