// SPDX-License-Identifier: Apache-2.0
// One participant whose messages travel as packets of MPI. Messages to participants of the same
// node travel through rings in memory that its processes share, if there is such memory; otherwise
// packets between threads of one process are passed on directly. comm/endpoint_concept.hpp says
// what an endpoint does; communicator.hpp makes it.
//
// Packets carry the episode in which they were sent, ring messages do not. A participant that sends
// in an episode has written to the memory of its node before that the episode before is over. A
// reader looks there after it has seen a message: if its own episode is over, the message waits in
// the ring until the process has the release too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/mpi/operation_number.hpp"
#include "tutti/mpi/outgoing.hpp"
#include "tutti/mpi/polling.hpp"
#include "tutti/mpi/process.hpp"
#include "tutti/mpi/ring_box.hpp"
#include "tutti/mpi/self_queue.hpp"
#include "tutti/mpi/shared_room.hpp"
#include "tutti/platform/misuse.hpp"

namespace tutti::mpi {

class packet_endpoint {
 public:
  // `of_node` is the memory that the processes of this node share, or null.
  packet_endpoint(process& mine, std::uint32_t thread, shared_room* of_node,
                  std::size_t ring_bytes);
  packet_endpoint(const packet_endpoint&) = delete;
  packet_endpoint& operator=(const packet_endpoint&) = delete;

  rank_t rank() const noexcept { return rank_; }
  rank_t size() const noexcept { return process_.participants(); }

  // --- messages ----------------------------------------------------------------------------------
  bool can_send(rank_t to) { return has_room(to, inline_message) || make_room(to, inline_message); }
  bool try_send(rank_t to, const void* data, std::size_t bytes) {
    if (to == rank_) return send_self(data, bytes);
    if (is_near(to)) return send_near(to, data, bytes);
    outgoing& out = out_[process_of(to)];
    if (bytes > out.largest_whole()) [[unlikely]]
      return send_large(out, to, data, bytes);
    if (!has_room(to, bytes) && !make_room(to, bytes)) return false;
    out.append(process_.where().thread_of[to], data, bytes);
    ++totals_.sent;
    return true;
  }

  bool can_recv() { return at_ != 0 || find_message(); }
  received recv() {
    if (at_ == is_assembled) return take_assembled();
    if (at_ == is_self) return take_self();
    if (at_ == is_in_ring) return take_from_ring();
    const record_header& record = home_->record(at_);
    const received message{home_->payload(at_), record.size, source_,
                           reinterpret_cast<std::uintptr_t>(home_)};
    at_ = record.next;
    // The next record may be a piece, which recv() must not return as a message.
    if (at_ != 0 && (home_->record(at_).size & record_header::is_piece) != 0) [[unlikely]]
      defer();
    ++counted_.received;
    return message;
  }
  void release(const received& message) {
    if (message.source == rank_) return self_.release(message.index);
    ++totals_.freed;
    if (is_near(message.source)) return release_near(message);
    if ((message.index & assembled_mark) != 0) [[unlikely]]
      return release_assembled(message.index);
    // NOLINTNEXTLINE: the address that recv() put there.
    one_less(reinterpret_cast<packet*>(message.index));
  }
  void flush() {
    for (outgoing& out : out_) out.flush(episode_);
    if (rings_) rings_->flush();
  }

  // The others that wait in idle(), or call it later, get an error.
  void leave();

  // The number of messages received and not released.
  std::uint64_t held() const noexcept;
  // Passes a while after try_send() has found no room and no message is here. Returns false once
  // the deadline has passed. Throws std::runtime_error if another process has died, if the receiver
  // has left, or if idle() has to be called first.
  bool wait_for_room(rank_t to, std::uint64_t deadline_ns);
  // Call this before the first wait_for_room() of a wait.
  void begin_wait_for_room() { waiting_.emplace(process_.is_crowded(), process_.patience()); }

  // --- idle --------------------------------------------------------------------------------------
  // Returns the outcome, or no outcome if a message has come or `deadline_ns` has passed. If the
  // deadline has passed, `missing` (unless null) gets the participants that are missing.
  std::optional<protocol::outcome> idle(const protocol::contribution& given,
                                        std::uint64_t deadline_ns, std::vector<absentee>* missing);

  endpoint_statistics statistics() const noexcept {
    endpoint_statistics now = counted_;
    now.sent = totals_.sent;
    return now;
  }

 private:
  // Marks in at_ that are no offsets of records.
  static constexpr std::uint32_t is_assembled = 1, is_self = 2, is_in_ring = 3;
  // A mark in an index that is no address of a packet.
  static constexpr std::uint64_t assembled_mark = 1;

  struct assembling {
    std::vector<std::byte> bytes;
    std::size_t filled = 0;
  };

  std::uint32_t process_of(rank_t to) const noexcept { return process_.where().process_of[to]; }
  // Whether messages to and from this other participant travel through rings.
  bool is_near(rank_t other) const noexcept { return rings_ && near_[other] != not_near; }
  bool has_room(rank_t to, std::size_t bytes) {
    if (!process_.may_send(episode_)) return false;
    if (to == rank_) return true;
    return is_near(to) ? rings_->can_send(near_[to])
                       : out_[process_of(to)].has_room(bytes, episode_);
  }
  bool send_near(rank_t to, const void* data, std::size_t bytes) {
    const auto takes = [&] {
      return process_.may_send(episode_) && rings_->try_send(near_[to], data, bytes);
    };
    if (!takes() && !(make_room(to, inline_message) && takes())) return false;
    ++totals_.sent;
    return true;
  }
  bool send_self(const void* data, std::size_t bytes) {
    if (!process_.may_send(episode_) && !make_room(rank_, bytes)) [[unlikely]]
      return false;
    self_.push(data, bytes);
    ++counted_.self;
    return true;
  }
  bool make_room(rank_t to, std::size_t bytes);
  bool send_large(outgoing& out, rank_t to, const void* data, std::size_t bytes);
  void continue_rests();
  void continue_rings() {
    if (rings_ && rings_->has_rests()) rings_->continue_rests();
  }
  bool find_message();
  bool look();
  bool open_entry();
  void woken();
  bool step_to_message();
  void add_piece();
  void defer() { deferred_ = std::exchange(at_, 0); }
  received take_assembled();
  received take_self();
  received take_from_ring();
  void release_near(received message) {
    message.source = near_[message.source];
    rings_->release(message);
  }
  void release_assembled(std::uint64_t index);
  void one_less(packet* p) {
    if (!process_.releases_need_update()) {
      // relaxed: only this participant releases messages of the packet, and no other thread reads
      // the count.
      const std::uint32_t left = p->unreleased.load(relaxed) - 1;
      p->unreleased.store(left, relaxed);
      if (left == 0) process_.emptied(p);
      return;
    }
    // acq_rel: my reads of the packet come before its next use; the last takes over the others'.
    if (p->unreleased.fetch_sub(1, acq_rel) == 1) process_.emptied(p);
  }
  // Call this after a search that found nothing. A program that polls instead of calling idle()
  // would otherwise keep the participants that it waits for off its core.
  void let_others_run() noexcept {
    if (++vain_looks_ < (process_.is_crowded() ? 2u : 1000u)) return;
    vain_looks_ = 0;
    native::yield();
  }
  bool has_news() const noexcept {
    return has_packet() || (rings_ && rings_->has_news() && is_of_this_episode());
  }
  bool has_packet() const noexcept {
    const inbox_entry* const front = inbox_.front();
    return front != nullptr && front->episode <= episode_;
  }
  bool has_ring_message() { return rings_ && rings_->has_message() && is_of_this_episode(); }
  // Call this after a look that has found a message in a ring.
  bool is_of_this_episode() const noexcept { return room_->look().episodes() <= episode_; }
  protocol::counts totals() noexcept;

  process& process_;
  rank_t rank_;
  std::uint32_t thread_;
  inbox& inbox_;
  // By process.
  std::vector<outgoing> out_;
  // Messages to and from others.
  protocol::counts totals_;
  std::uint64_t episode_ = 0;

  // What recv() returns next: a record of home_, or one of the marks.
  std::uint32_t at_ = 0;
  packet* home_ = nullptr;
  rank_t source_ = 0;
  // A piece of home_ that must be handled before the next message.
  std::uint32_t deferred_ = 0;

  self_queue self_;
  // Which source of messages comes next: the rings, this participant, packets.
  unsigned source_turn_ = 0;

  // Null, no rings and empty without shared memory.
  shared_room* room_;
  std::optional<ring_box> rings_;
  // By participant: its rank in the room, or not_near.
  std::vector<rank_t> near_;
  static constexpr rank_t not_near = UINT32_MAX;
  // By rank in the room: the participant.
  std::vector<rank_t> of_room_;
  // Messages to this participant itself that it held in an idle(): counted as sent there, and as
  // freed later.
  protocol::counts kept_;
  // By source.
  std::unordered_map<rank_t, assembling> pieces_;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> assembled_;
  std::uint64_t next_assembled_ = 0;
  std::uint64_t assembled_now_ = 0;
  std::uint32_t vain_looks_ = 0;
  // The wait for room.
  std::optional<polling> waiting_;
  endpoint_statistics counted_;
};

}  // namespace tutti::mpi
