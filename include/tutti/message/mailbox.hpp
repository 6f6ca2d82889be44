// SPDX-License-Identifier: Apache-2.0
// Mailbox: the rings between one participant and all participants, itself included.
//
// A message to oneself goes through a ring that no other participant touches. Its cache lines never
// leave the core, and it costs no fence. Such messages are counted separately.
//
// A message becomes visible to its receiver when its batch is full, at flush(), or when can_recv()
// finds nothing for the second time in a row without a send in between. (Publishing the first time
// that can_recv() finds nothing would publish every single message of a program that checks for
// messages after each send, which is three times slower.)
//
// Thread-safety: one thread (or fiber) at a time uses a mailbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/message/ring_reader.hpp"
#include "tutti/message/ring_writer.hpp"
#include "tutti/platform/array.hpp"

namespace tutti {

// `Wake(to)` is called after something was published for another participant, which may be waiting,
// or after room was given back to a participant that waits for it.
template <class Memory, class Wake>
class mailbox {
 public:
  using place = ring_place<Memory>;

  // `to` and `from` hold the places of the rings to and from each participant, in the order of the
  // ranks. Both have one entry per participant. `batch` is in bytes (ring_writer).
  mailbox(rank_t rank, const std::vector<place>& to, const std::vector<place>& from,
          std::size_t batch, Wake wake)
      : rank_(rank), wake_(wake) {
    writers_.reserve(to.size());
    readers_.reserve(from.size());
    for (const place& where : to) writers_.emplace_back(where, batch);
    for (const place& where : from) readers_.emplace_back(where);
    is_dirty_.assign(to.size(), false);
    // A message that was sent is never forgotten for want of memory.
    dirty_.reserve(to.size());
    current_ = &readers_[rank];
  }

  rank_t rank() const noexcept { return rank_; }
  rank_t size() const noexcept { return static_cast<rank_t>(writers_.size()); }

  bool can_send(rank_t to) { return writers_[to].has_open_run() || look_for_room(to); }

  // Returns false if there is no room now.
  bool try_send(rank_t to, const void* data, std::size_t bytes) {
    looks_ = 0;
    ring_writer<Memory>& writer = writers_[to];
    if (!writer.fits_open_run(bytes)) [[unlikely]]
      return begin_run(to, data, bytes);
    writer.append(data, bytes);
    return true;
  }

  // Whether try_send() would find room now, after it has found none. It changes nothing, so a
  // waiting loop may call it.
  bool sees_room(rank_t to, std::size_t bytes) const noexcept {
    return !is_shut_ && writers_[to].sees_room(bytes);
  }
  // Tells the reader whether it has to wake this participant when it frees room. Call it before and
  // after a wait for room.
  void want_room(rank_t to, bool is_wanted) noexcept { writers_[to].want_room(is_wanted); }

  bool can_recv() {
    if (current_->has_message()) [[likely]]
      return true;
    return find_message() || look_in_vain();
  }
  // Whether a message is here. Unlike can_recv(), it publishes nothing and passes no time; call it
  // before a wait.
  bool has_message() { return current_->has_message() || find_message(); }
  // The same, of the messages that were seen with the last one only.
  bool has_seen_message() const noexcept { return current_->has_message(); }
  // Precondition: can_recv().
  received recv() noexcept { return current_->take(source_); }

  // Returns false if the message was never received or is already released.
  bool release(const received& message) {
    if (!readers_[message.source].release_message(message.index)) [[unlikely]]
      return false;
    ++released_;
    return true;
  }

  void flush() {
    for (const rank_t to : dirty_) {
      is_dirty_[to] = false;
      observed(to, [](ring_writer<Memory>& writer) { return writer.flush(); });
    }
    dirty_.clear();
  }

  // While the mailbox is shut, nothing can be sent or received. Shut it only after a flush() and
  // with no message at hand: then only calls that search the rings have to check whether it is
  // shut.
  void shut(bool is_shut) noexcept { is_shut_ = is_shut; }
  bool is_shut() const noexcept { return is_shut_; }

  // Whether any ring holds a message that has not been seen. It changes nothing, so a waiting loop
  // may call it.
  bool has_news() const noexcept {
    if (current_->has_message()) return true;
    for (const ring_reader<Memory>& reader : readers_)
      if (reader.has_news()) return true;
    return false;
  }

  // Messages sent to any participant, oneself included. After a flush() the count is complete.
  std::uint64_t sent() const noexcept { return sent_; }
  std::uint64_t sent_to(rank_t to) const noexcept { return writers_[to].sent(); }
  std::uint64_t released() const noexcept { return released_; }
  std::uint64_t held() const noexcept { return taken() - released_; }
  std::uint64_t taken() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& reader : readers_) sum += reader.taken();
    return sum;
  }
  std::uint64_t taken_from(rank_t source) const noexcept { return readers_[source].taken(); }

 private:
  // Calls `what` on the writer, then counts the messages of the runs that it closed, and wakes the
  // reader if it published any.
  template <class What>
  bool observed(rank_t to, What what) {
    ring_writer<Memory>& writer = writers_[to];
    const std::uint64_t sent = writer.sent();
    const std::uint64_t published = writer.published();
    const bool result = what(writer);
    sent_ += writer.sent() - sent;
    if (writer.published() != published && to != rank_) wake_(to);
    return result;
  }

  [[gnu::noinline]] bool look_for_room(rank_t to) {
    if (is_shut_) return false;
    const bool has_room =
        observed(to, [](ring_writer<Memory>& writer) { return writer.has_room(); });
    has_room ? void(refusals_ = 0) : pass_time(++refusals_);
    return has_room;
  }

  // A program that asks again and again is waiting for another participant, which may need this
  // core or be a fiber of this thread.
  static void pass_time(unsigned asked) noexcept {
    constexpr unsigned patience = 16;
    asked < patience ? Memory::relax() : Memory::yield();
  }

  [[gnu::noinline]] bool begin_run(rank_t to, const void* data, std::size_t bytes) {
    if (is_shut_) return false;
    const bool is_sent = observed(
        to, [=](ring_writer<Memory>& writer) { return writer.append_to_new_run(data, bytes); });
    if (!is_sent) {
      pass_time(++refusals_);
      return false;
    }
    refusals_ = 0;
    if (!is_dirty_[to]) {
      is_dirty_[to] = true;
      dirty_.push_back(to);
    }
    return true;
  }

  // Finds the next message. The sources take turns, one run at a time.
  [[gnu::noinline]] bool find_message() {
    const rank_t n = size();
    if (is_shut_) {
      // A sender may wait for the room of messages that were released since, before it answers the
      // report for whose answer this participant waits.
      for (rank_t source = 0; source < n; ++source)
        if (readers_[source].give_room()) wake_(source);
      return false;
    }
    for (rank_t tried = 0; tried < n; ++tried) {
      source_ = source_ + 1 == n ? 0 : source_ + 1;
      if (source_ == rank_ && is_dirty_[rank_])
        observed(rank_, [](ring_writer<Memory>& writer) { return writer.flush(); });
      if (!readers_[source_].refill([this] { wake_(source_); })) continue;
      current_ = &readers_[source_];
      return true;
    }
    current_ = &readers_[source_];
    return false;
  }

  // Always returns false.
  [[gnu::noinline]] bool look_in_vain() {
    ++looks_;
    if (looks_ > 1) flush();
    constexpr unsigned leisurely = 8;
    if (looks_ > leisurely) pass_time(looks_ - leisurely);
    return false;
  }

  rank_t rank_;
  // The source that current_ belongs to.
  rank_t source_ = 0;
  ring_reader<Memory>* current_ = nullptr;
  std::vector<ring_writer<Memory>> writers_;
  std::vector<ring_reader<Memory>> readers_;
  std::uint64_t sent_ = 0;
  std::uint64_t released_ = 0;
  // Searches since the last send that found nothing.
  unsigned looks_ = 0;
  // Sends in a row that found no room.
  unsigned refusals_ = 0;
  bool is_shut_ = false;
  // The participants whose rings hold unpublished messages.
  std::vector<rank_t> dirty_;
  std::vector<bool> is_dirty_;
  [[no_unique_address]] Wake wake_;
};

}  // namespace tutti
