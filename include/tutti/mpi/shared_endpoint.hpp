// SPDX-License-Identifier: Apache-2.0
// One participant whose messages travel through memory that all processes of its node share,
// without MPI. Messages too large for a ring travel in pieces. A piece is recognised by its size,
// which no whole message has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/comm/message_predictor.hpp"
#include "tutti/message/mailbox.hpp"
#include "tutti/mpi/process.hpp"
#include "tutti/mpi/shared_room.hpp"
#include "tutti/termination/protocol/interface.hpp"

namespace tutti::mpi {

class shared_endpoint {
  using memory = shared_room::memory;
  struct wake {
    shared_room* room;
    void operator()(rank_t to) const noexcept { room->wake(to); }
  };

 public:
  shared_endpoint(process& mine, shared_room& room, std::uint32_t thread, std::size_t ring_bytes);
  shared_endpoint(const shared_endpoint&) = delete;
  shared_endpoint& operator=(const shared_endpoint&) = delete;
  // Participants that are in idle(), or call it later, get an error.
  ~shared_endpoint() { room_.break_up(rank()); }

  rank_t rank() const noexcept { return box_.rank(); }
  rank_t size() const noexcept { return box_.size(); }

  bool can_send(rank_t to) {
    if (rests_ != 0) [[unlikely]]
      return continue_rests(), rests_ == 0 && box_.can_send(to);
    return box_.can_send(to) || no_room();
  }
  bool try_send(rank_t to, const void* data, std::size_t bytes) {
    if (bytes >= piece_bytes_ && to != rank()) [[unlikely]]
      return send_pieces(to, data, bytes);
    if (rests_ != 0) [[unlikely]] {
      continue_rests();
      if (rests_ != 0) return false;
    }
    return box_.try_send(to, data, bytes) || no_room();
  }

  bool can_recv() {
    if (!box_.can_recv()) [[unlikely]]
      return is_staged_ || nothing_here();
    return !room_.has_pieces() || is_staged_ || stage();
  }
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

  // The others that wait in idle(), or call it later, get an error.
  void leave() {
    if (rests_ != 0) continue_rests();
    box_.flush();
    room_.break_up(rank());
  }

  // Whether a message is here. It publishes nothing and passes no time.
  bool has_message();
  std::uint64_t held() const noexcept { return box_.held(); }
  // Waits until room or a message may have come, after try_send() has found no room and no message
  // is here. Returns false once the deadline has passed. Throws std::runtime_error if another
  // process has died or left.
  bool wait_for_room(rank_t to, std::size_t bytes, std::uint64_t deadline_ns);

  // Returns the outcome, or no outcome if a message has come or `deadline_ns` has passed. If the
  // deadline has passed, `missing` (unless null) gets the participants that are missing.
  std::optional<protocol::outcome> idle(const protocol::contribution& given,
                                        std::uint64_t deadline_ns, std::vector<absentee>* missing);

  endpoint_statistics statistics() const noexcept;

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

  bool no_room();
  bool nothing_here();
  bool stage();
  bool add_piece(const received& piece);
  bool send_pieces(rank_t to, const void* data, std::size_t bytes);
  bool continue_rest(rank_t to, rest& left);
  void continue_rests();
  void release_assembled(const received& message);

  void be_seen(whereabouts where) noexcept;
  bool send_rests(std::uint64_t deadline_ns, std::vector<absentee>* late);
  bool enter(const protocol::contribution& given);
  std::optional<protocol::outcome> leave(release_word now);
  void wait_for_event(std::uint64_t deadline_ns);
  template <class Event>
  void wait_until(Event has_come, std::uint64_t deadline_ns);
  bool has_event() noexcept;
  bool sees_room(rank_t to, std::size_t bytes) const noexcept;
  void want_room(rank_t to, bool is_wanted) noexcept;
  void refuse_if_broken();
  void look_for_the_dead();
  [[noreturn]] void refuse_broken();
  std::vector<absentee> missing();

  process& process_;
  shared_room& room_;
  shared_room::rank_slot& mine_;
  std::size_t piece_bytes_;
  mailbox<memory, wake> box_;
  std::uint64_t episode_ = 0;
  // Messages sent less messages released, as of this participant's last entry.
  std::uint64_t reported_ = 0;
  message_predictor predictor_;
  int polls_before_wait_;

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
  std::uint32_t vain_looks_ = 0;
  // Pieces that do not count as messages.
  std::uint64_t extra_sent_ = 0, extra_taken_ = 0;
  endpoint_statistics counted_;
};

}  // namespace tutti::mpi
