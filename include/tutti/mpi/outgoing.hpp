// SPDX-License-Identifier: Apache-2.0
// What one participant is about to send to one process: the packet that is being filled, and a
// message too large for one packet, which is sent in pieces as credits come back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "tutti/mpi/packet.hpp"
#include "tutti/mpi/process.hpp"

namespace tutti::mpi {

class outgoing {
 public:
  outgoing(process& mine, rank_t source, std::uint32_t to)
      : process_(&mine),
        source_(source),
        to_(to),
        threads_(static_cast<rank_t>(mine.where().participants[to].size())),
        begin_(records_begin(threads_)),
        capacity_(static_cast<std::uint32_t>(mine.packet_bytes())),
        last_record_(threads_, 0) {}
  outgoing(const outgoing&) = delete;
  outgoing& operator=(const outgoing&) = delete;
  outgoing(outgoing&&) = default;
  outgoing& operator=(outgoing&&) = default;

  // The largest message, in bytes, that is sent in one piece.
  std::size_t largest_whole() const noexcept { return capacity_ - begin_ - sizeof(record_header); }

  // Whether there is room for a message of `bytes` bytes in the open packet or in a new one.
  // Precondition: bytes <= largest_whole().
  bool has_room(std::size_t bytes, std::uint64_t episode) {
    if (open_ != nullptr && end_ + sizeof(record_header) + padded_to_8(bytes) <= capacity_)
        [[likely]]
      return true;
    return !has_rest() && open(episode);
  }
  // Precondition: has_room(bytes).
  void append(std::uint32_t thread, const void* data, std::size_t bytes) noexcept {
    std::byte* const to = begin_record(thread, static_cast<std::uint32_t>(bytes), bytes);
    // `data` may be null for an empty message, which memcpy does not allow.
    if (bytes != 0) std::memcpy(to, data, bytes);
  }

  // Takes a message of any size. Returns false if there is no room for its first piece.
  bool append_large(std::uint32_t thread, const void* data, std::size_t bytes,
                    std::uint64_t episode) {
    if (has_rest() || !has_room(least_piece, episode)) return false;
    const auto* const from = static_cast<const std::byte*>(data);
    rest_.assign(from, from + bytes);
    sent_of_rest_ = 0;
    rest_thread_ = thread;
    continue_rest(episode);
    return true;
  }
  bool has_rest() const noexcept { return !rest_.empty(); }
  // Sends as much of a large message as the credits allow.
  void continue_rest(std::uint64_t episode) {
    while (has_rest()) {
      if (capacity_ - end_of_open() < sizeof(record_header) + least_piece && !open(episode)) return;
      const std::size_t room =
          (capacity_ - end_) / 8 * 8 - sizeof(record_header) - sizeof(whole_size);
      const std::size_t piece = (std::min)(room, rest_.size() - sent_of_rest_);
      put_piece(piece);
      if (sent_of_rest_ == rest_.size()) rest_.clear();
    }
  }

  // Sends the open packet. `episode` is the one in which all its messages were sent: idle() flushes
  // before it ends an episode. An empty packet stays here with its credit, because the receiver
  // would never empty it and return the credit.
  void flush(std::uint64_t episode) {
    if (messages_ == 0) return;
    open_->header() = {.bytes = end_,
                       .kind = packet_kind::messages,
                       .source = source_,
                       .messages = std::exchange(messages_, 0),
                       .episode = episode};
    process_->hand_over(std::exchange(open_, nullptr), to_);
  }

 private:
  static constexpr std::size_t least_piece = 64;

  std::uint32_t end_of_open() const noexcept { return open_ == nullptr ? capacity_ : end_; }

  // Replaces the open packet, if any, which is too full for the next message; an empty packet never
  // is. Returns false if there is no credit.
  bool open(std::uint64_t episode) {
    flush(episode);
    auto& credit = process_->credits(process_->where().thread_of[source_], to_);
    // relaxed: a number of packets; only this participant takes from it.
    if (credit.load(relaxed) == 0) return false;
    credit.fetch_sub(1, relaxed);
    open_ = process_->take();
    std::memset(open_->first_records(), 0, begin_ - sizeof(packet_header));
    std::fill(last_record_.begin(), last_record_.end(), 0u);
    end_ = begin_;
    return true;
  }

  // Appends a record to those of the receiving thread. Returns where its bytes go.
  std::byte* begin_record(std::uint32_t thread, std::uint32_t size, std::size_t bytes) noexcept {
    const std::uint32_t at = end_;
    const std::uint32_t before = std::exchange(last_record_[thread], at);
    if (before == 0)
      open_->first_records()[thread] = at;
    else
      open_->record(before).next = at;
    open_->record(at) = {.next = 0, .size = size};
    end_ = at + static_cast<std::uint32_t>(sizeof(record_header) + padded_to_8(bytes));
    ++messages_;
    return open_->payload(at);
  }
  void put_piece(std::size_t piece) noexcept {
    const std::size_t bytes = sizeof(whole_size) + piece;
    std::byte* const to = begin_record(
        rest_thread_, static_cast<std::uint32_t>(bytes) | record_header::is_piece, bytes);
    const whole_size whole = rest_.size();
    std::memcpy(to, &whole, sizeof whole);
    std::memcpy(to + sizeof whole, rest_.data() + sent_of_rest_, piece);
    sent_of_rest_ += piece;
  }

  process* process_;
  rank_t source_;
  std::uint32_t to_;
  rank_t threads_;
  std::uint32_t begin_;
  std::uint32_t capacity_;
  packet* open_ = nullptr;
  std::uint32_t end_ = 0;
  // Messages in open_.
  std::uint32_t messages_ = 0;
  // By thread of the receiving process.
  std::vector<std::uint32_t> last_record_;
  // A large message that is being sent.
  std::vector<std::byte> rest_;
  std::size_t sent_of_rest_ = 0;
  std::uint32_t rest_thread_ = 0;
};

}  // namespace tutti::mpi
