// SPDX-License-Identifier: Apache-2.0
// One participant whose messages travel through memory that all processes share, without MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/comm/message_predictor.hpp"
#include "tutti/mpi/process.hpp"
#include "tutti/mpi/ring_box.hpp"
#include "tutti/mpi/shared_room.hpp"
#include "tutti/termination/protocol/interface.hpp"

namespace tutti::mpi {

class shared_endpoint {
  using memory = shared_room::memory;

 public:
  shared_endpoint(process& mine, shared_room& room, std::uint32_t thread, std::size_t ring_bytes);
  shared_endpoint(const shared_endpoint&) = delete;
  shared_endpoint& operator=(const shared_endpoint&) = delete;
  // Participants that are in idle(), or call it later, get an error.
  ~shared_endpoint() { room_.break_up(rank()); }

  rank_t rank() const noexcept { return box_.rank(); }
  rank_t size() const noexcept { return box_.size(); }

  bool can_send(rank_t to) { return box_.can_send(to) || no_room(); }
  bool try_send(rank_t to, const void* data, std::size_t bytes) {
    return box_.try_send(to, data, bytes) || no_room();
  }

  bool can_recv() { return box_.can_recv() || no_room(); }
  received recv() { return box_.recv(); }
  void release(const received& message) { box_.release(message); }
  void flush() { box_.flush(); }

  // The others that wait in idle(), or call it later, get an error.
  void leave() {
    if (box_.has_rests()) box_.continue_rests();
    box_.flush();
    room_.break_up(rank());
  }

  // Whether a message is here. It publishes nothing and passes no time.
  bool has_message() { return box_.has_message(); }
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
  bool no_room();

  void be_seen(whereabouts where) noexcept;
  bool send_rests(std::uint64_t deadline_ns, std::vector<absentee>* late);
  bool enter(const protocol::contribution& given);
  std::optional<protocol::outcome> leave(release_word now);
  void wait_for_event(std::uint64_t deadline_ns);
  template <class Event>
  void wait_until(Event has_come, std::uint64_t deadline_ns);
  bool has_event() noexcept;
  void refuse_if_broken();
  void look_for_the_dead();
  [[noreturn]] void refuse_broken();
  std::vector<absentee> missing();

  process& process_;
  shared_room& room_;
  shared_room::rank_slot& mine_;
  ring_box box_;
  std::uint64_t episode_ = 0;
  // Messages sent less messages released, as of this participant's last entry.
  std::uint64_t reported_ = 0;
  message_predictor predictor_;
  int polls_before_wait_;
  std::uint32_t vain_looks_ = 0;
  endpoint_statistics counted_;
};

}  // namespace tutti::mpi
