// SPDX-License-Identifier: Apache-2.0
// The messages of one participant to and from those with which it shares memory: a mailbox of
// rings. Messages too large for a ring travel in pieces. A piece is recognised by its size, which
// no whole message has.
//
// Ranks are those of the room. One thread at a time uses a box.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/message/mailbox.hpp"
#include "tutti/mpi/shared_room.hpp"

namespace tutti::mpi {

// Whether participants of the room sleep until a message or room for one comes.
enum class waiters : std::uint8_t { sleep, poll };

class ring_box {
  using memory = shared_room::memory;
  struct wake {
    // Null: nobody sleeps.
    shared_room* room;
    void operator()(rank_t to) const noexcept {
      if (room != nullptr) room->wake(to);
    }
  };

 public:
  ring_box(shared_room& room, rank_t rank, std::size_t ring_bytes, waiters others);
  ring_box(const ring_box&) = delete;
  ring_box& operator=(const ring_box&) = delete;

  rank_t rank() const noexcept { return box_.rank(); }
  rank_t size() const noexcept { return box_.size(); }

  bool can_send(rank_t to) {
    if (rests_ != 0) [[unlikely]] {
      continue_rests();
      if (rests_ != 0) return false;
    }
    return box_.can_send(to);
  }
  bool try_send(rank_t to, const void* data, std::size_t bytes) {
    if (bytes >= piece_bytes_ && to != rank()) [[unlikely]]
      return send_pieces(to, data, bytes);
    if (rests_ != 0) [[unlikely]] {
      continue_rests();
      if (rests_ != 0) return false;
    }
    return box_.try_send(to, data, bytes);
  }

  bool can_recv() {
    if (!box_.can_recv()) [[unlikely]] {
      if (rests_ != 0) continue_rests();
      return is_staged_;
    }
    return !room_.has_pieces() || is_staged_ || stage();
  }
  // Whether a message is here. It publishes nothing and passes no time.
  bool has_message() {
    if (is_staged_) return true;
    return box_.has_message() && (!room_.has_pieces() || stage());
  }
  // The same, of the messages that were seen with the last one only.
  bool has_seen_message() const noexcept { return box_.has_seen_message() && !room_.has_pieces(); }
  // Whether there is anything that has not been seen. It changes nothing.
  bool has_news() const noexcept { return box_.has_news(); }
  received recv() {
    if (!is_staged_) [[likely]]
      return box_.recv();
    is_staged_ = false;
    return staged_;
  }
  void release(const received& message) {
    if ((message.index & assembled_mark) != 0) [[unlikely]]
      return release_assembled(message);
    box_.release(message);
  }
  void flush() { box_.flush(); }

  // Whether pieces of large messages are still to be sent. They count as sent.
  bool has_rests() const noexcept { return rests_ != 0; }
  void continue_rests();

  // Whether there is now the room that try_send() lacked: for the message or its first piece, or
  // for pieces that other participants are still to get.
  bool sees_room(rank_t to, std::size_t bytes) const noexcept;
  // Tells those for whose room this participant waits whether they have to wake it.
  void want_room(rank_t to, bool is_wanted) noexcept;

  std::uint64_t held() const noexcept { return box_.held(); }
  // Messages and pieces sent less those released.
  std::uint64_t balance() const noexcept { return box_.sent() - box_.released(); }
  // Messages to others, to this participant itself, and from others.
  std::uint64_t sent_to_others() const noexcept {
    return box_.sent() - box_.sent_to(rank()) - extra_sent_;
  }
  std::uint64_t sent_to_self() const noexcept { return box_.sent_to(rank()); }
  std::uint64_t received_from_others() const noexcept {
    return box_.taken() - box_.taken_from(rank()) - extra_taken_;
  }

 private:
  static constexpr std::uint64_t assembled_mark = std::uint64_t{1} << 63;
  struct piece_header {
    // Bytes of the message.
    std::uint64_t whole = 0;
    // Bytes of the message that are in this piece.
    std::uint64_t part = 0;
  };
  struct assembling {
    std::vector<std::byte> bytes;
    std::size_t filled = 0;
  };
  struct assembled {
    std::vector<std::byte> bytes;
    // Released together with the message.
    received last_piece;
  };
  struct rest {
    std::vector<std::byte> bytes;
    std::size_t sent = 0;
  };

  bool stage();
  bool add_piece(const received& piece);
  bool send_pieces(rank_t to, const void* data, std::size_t bytes);
  bool continue_rest(rank_t to, rest& left);
  void release_assembled(const received& message);

  shared_room& room_;
  std::size_t piece_bytes_;
  mailbox<memory, wake> box_;
  bool is_staged_ = false;
  received staged_;
  // Destinations to which pieces are still to be sent.
  std::uint32_t rests_ = 0;
  std::unordered_map<rank_t, rest> rest_;
  std::vector<std::byte> piece_;
  // By source.
  std::unordered_map<rank_t, assembling> pieces_;
  std::unordered_map<std::uint64_t, assembled> assembled_;
  std::uint64_t next_assembled_ = 0;
  // Pieces that do not count as messages.
  std::uint64_t extra_sent_ = 0, extra_taken_ = 0;
};

}  // namespace tutti::mpi
