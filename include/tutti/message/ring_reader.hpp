// SPDX-License-Identifier: Apache-2.0
// The reading end of a ring. See ring.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "tutti/message/ring.hpp"

namespace tutti {

template <class Memory = native>
class alignas(cache_line) ring_reader {
  using place = ring_place<Memory>;
  using cell = typename place::cell;

 public:
  explicit ring_reader(const place& where) : place_(where) {}

  // Whether take() would return a message without another load from the writer's line.
  bool has_message() const noexcept { return left_ != 0; }

  // Whether the writer has published more than has been seen. It changes nothing, so a waiting loop
  // may call it.
  bool has_news() const noexcept {
    // acquire: pairs with the writer's publication; a waiter that wakes for a message sees what its
    // sender did.
    return place_.writers->published.load(Memory::order("ring.look", acquire)) != published_;
  }

  // Continues with the next run once the messages of this one are taken. Returns false if there is
  // none. Calls `wake_writer()` if it frees room that the writer waits for.
  template <class WakeWriter>
  bool refill(WakeWriter wake_writer) {
    if (left_ != 0) return true;
    if (give_room()) [[unlikely]]
      wake_writer();
    if (position_ == published_) {
      // acquire: pairs with the writer's publication.
      published_ = place_.writers->published.load(Memory::order("ring.look", acquire));
      if (position_ == published_) return false;
    }
    detail::run_header header = header_at(position_);
    if (header.kind == detail::run_header::skip) {
      position_ = next_lap(position_);
      header = header_at(position_);
    }
    start_run(header);
    return true;
  }

  // The same for a writer that only polls.
  bool refill() {
    return refill([] {});
  }

  // Precondition: has_message().
  received take(rank_t source) noexcept {
    const received message{bytes_at(cursor_), size_, source, taken_};
    cursor_ += step_;
    --left_;
    ++taken_;
    return message;
  }

  // Messages of this ring may be released in any order. Returns false if the message was not taken
  // or is already released.
  bool release_message(std::uint64_t message) {
    if (message != released_) [[unlikely]]
      return release_early(message);
    ++released_;
    if (!early_.empty()) [[unlikely]]
      catch_up();
    return true;
  }

  std::uint64_t taken() const noexcept { return taken_; }

  // Gives the room of runs back to the writer, a quarter of the ring at a time, once all their
  // messages are released. Returns true if the writer may be asleep until then.
  // Precondition: !has_message().
  bool give_room() noexcept {
    if (released_ == taken_) {
      freed_ = position_;
      freed_messages_ = taken_;
    } else {
      free_whole_runs();
    }
    if (freed_ - told_freed_ < place_.capacity / 4) [[likely]]
      return false;
    told_freed_ = freed_;
    // seq_cst: release, since my reads of these cells come before the writer's next writes there;
    // pairs with its load when it looks for room. The one order puts it before my look for a
    // waiting writer: the writer's fence stands between its request for room and its last look.
    place_.readers->freed.store(freed_, Memory::order("ring.free", seq_cst));
    // seq_cst: comes after the freed position in the one order; pairs with the fence that follows
    // the request for room (sleepers::sleep).
    return place_.writers->wants_room.load(Memory::order("ring.wanted", seq_cst)) != 0;
  }

 private:
  void start_run(const detail::run_header& header) noexcept {
    size_ = header.size;
    left_ = header.count;
    cell* const first = place_.cells + index(position_ + 1);
    const std::uint64_t cells = cells_of(header);
    step_ = cells / header.count;
    position_ += 1 + cells;
    if constexpr (std::is_same_v<cell, std::uint64_t>) {
      const bool is_outside = header.kind == detail::run_header::outside;
      cursor_ = is_outside ? reinterpret_cast<cell*>(*first) : first;
      prefetch(first, cells);
    } else {
      cursor_ = first;
    }
  }

  // The lines of a run are read in order. Prefetching all of them at once overlaps their transfers.
  static void prefetch(const cell* first, std::uint64_t cells) noexcept {
    constexpr std::uint64_t line = 64 / sizeof(std::uint64_t);
    for (std::uint64_t at = line; at < cells; at += line) __builtin_prefetch(first + at);
  }

  static std::uint64_t cells_of(const detail::run_header& header) noexcept {
    if (header.kind == detail::run_header::outside) return 1;
    return header.count * detail::cells_of(header.size);
  }

  bool release_early(std::uint64_t message) {
    if (message < released_ || message >= taken_) return false;
    const auto at = std::lower_bound(early_.begin(), early_.end(), message);
    if (at != early_.end() && *at == message) return false;
    early_.insert(at, message);
    return true;
  }

  void catch_up() noexcept {
    std::size_t caught = 0;
    while (caught < early_.size() && early_[caught] == released_) {
      ++caught;
      ++released_;
    }
    early_.erase(early_.begin(), early_.begin() + static_cast<std::ptrdiff_t>(caught));
  }

  void free_whole_runs() noexcept {
    while (freed_ != position_) {
      const detail::run_header header = header_at(freed_);
      if (header.kind == detail::run_header::skip) {
        freed_ = next_lap(freed_);
        continue;
      }
      if (freed_messages_ + header.count > released_) return;
      freed_messages_ += header.count;
      freed_ += 1 + cells_of(header);
    }
  }

  detail::run_header header_at(std::uint64_t position) const noexcept {
    return detail::run_header::of(static_cast<std::uint64_t>(place_.cells[index(position)]));
  }
  std::uint64_t index(std::uint64_t position) const noexcept {
    return position & (place_.capacity - 1);
  }
  std::uint64_t next_lap(std::uint64_t position) const noexcept {
    return (position | (place_.capacity - 1)) + 1;
  }

  const std::byte* bytes_at(const cell* message) noexcept {
    if constexpr (std::is_same_v<cell, std::uint64_t>) {
      return reinterpret_cast<const std::byte*>(message);
    } else {
      // A checked cell is more than its bytes, so the message is copied. Four copies suffice: no
      // test holds more messages at a time.
      auto& copy = copies_[taken_ % copies_.size()];
      for (std::uint64_t i = 0; i < step_; ++i) copy[i] = static_cast<std::uint64_t>(message[i]);
      return reinterpret_cast<const std::byte*>(copy.data());
    }
  }
  struct no_copies {};
  using copies = std::conditional_t<std::is_same_v<cell, std::uint64_t>, no_copies,
                                    std::array<std::array<std::uint64_t, 8>, 4>>;

  // The run at hand: its next message, and how many messages are left.
  cell* cursor_ = nullptr;
  std::uint32_t left_ = 0;
  std::uint32_t size_ = 0;
  std::uint64_t step_ = 1;
  // Messages.
  std::uint64_t taken_ = 0;
  // Messages released without a gap.
  std::uint64_t released_ = 0;
  // The position behind the run at hand.
  std::uint64_t position_ = 0;
  // The published position seen last.
  std::uint64_t published_ = 0;
  // All messages before this position are released.
  std::uint64_t freed_ = 0;
  std::uint64_t told_freed_ = 0;
  std::uint64_t freed_messages_ = 0;
  // Messages that were released before an earlier one, in ascending order.
  std::vector<std::uint64_t> early_;
  place place_;
  [[no_unique_address]] copies copies_;
};

}  // namespace tutti
