// SPDX-License-Identifier: Apache-2.0
// What travels between processes: packets of messages, and small packets of control, all on one communicator and tag,
// so that one poll finds them all.
//
//   header | first record for each thread of the receiving process | records, 8-byte aligned
//
// The records for one thread are chained, so that it steps through its own without looking at the others', and several
// threads empty one packet without copying it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "tutti/mpi/calls.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::mpi {

enum class packet_kind : std::uint16_t {
  messages = 1,
  control = 2,  // protocol::control
  credits = 3,  // pairs {thread of the receiver, packets}
  ask = 4,      // who is idle? sent when a deadline has passed
  answer = 5,   // one participant_status for each thread of the sender
  goodbye = 6,  // the sender's communicator is being destroyed
  values = 7,   // to process 0: what each thread of the sender gave to the episode that is over
  result = 8,   // from process 0: all values combined
};

struct packet_header {
  std::uint32_t bytes = 0;  // all of the packet
  packet_kind kind{};
  std::uint16_t credits =
      0;  // packets of the receiver's thread 0 that have been emptied here since the last packet
  std::uint32_t source = 0;    // messages: the participant; otherwise the process
  std::uint32_t messages = 0;  // messages: records in it
  std::uint64_t episode =
      0;  // of the sender; a receiver who has not been released yet holds messages back
};
static_assert(sizeof(packet_header) == 24);

// In front of the bytes of each message.
struct record_header {
  std::uint32_t next = 0;  // offset of this thread's next record in the packet; 0: none
  std::uint32_t size = 0;  // bytes of the message, or of the piece
  static constexpr std::uint32_t is_piece =
      1u << 31;  // in size: of a message that is larger than a packet
};
// A piece begins with the size of its whole message.
using whole_size = std::uint64_t;

struct credit_grant {
  std::uint32_t thread = 0;
  std::uint32_t packets = 0;
};

struct participant_status {
  std::uint32_t is_idle = 0;
  std::uint32_t has_left = 0;
  std::uint64_t held = 0;  // messages received and not released
};

constexpr std::size_t padded_to_8(std::size_t bytes) noexcept {
  return (bytes + 7) & ~std::size_t{7};
}

// A packet in memory, with what this process notes about it.
class packet {
 public:
  static packet* make(std::size_t capacity) {
    void* const room = ::operator new (sizeof(packet) + capacity, std::align_val_t{cache_line});
    return ::new (room) packet();
  }
  static void destroy(packet* p) noexcept {
    p->~packet();
    ::operator delete (static_cast<void*>(p), std::align_val_t{cache_line});
  }
  packet(const packet&) = delete;
  packet& operator=(const packet&) = delete;

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  packet_header& header() noexcept { return *reinterpret_cast<packet_header*>(bytes()); }
  // Offsets of the first record for each thread of the receiving process; 0: none.
  std::uint32_t* first_records() noexcept {
    return reinterpret_cast<std::uint32_t*>(bytes() + sizeof(packet_header));
  }
  record_header& record(std::uint32_t offset) noexcept {
    return *reinterpret_cast<record_header*>(bytes() + offset);
  }
  std::byte* payload(std::uint32_t offset) noexcept {
    return bytes() + offset + sizeof(record_header);
  }

  packet* next = nullptr;                    // in the list of free packets
  handle request;                            // while MPI has it
  std::atomic<std::uint32_t> unreleased{0};  // messages in it
  std::uint32_t from_process = 0;

 private:
  packet() = default;
};
static_assert(sizeof(packet) % 8 == 0);

// Where the records of a packet for `threads` receiving threads begin.
constexpr std::uint32_t records_begin(rank_t threads) noexcept {
  return static_cast<std::uint32_t>(
      padded_to_8(sizeof(packet_header) + std::size_t{threads} * sizeof(std::uint32_t)));
}

}  // namespace tutti::mpi
