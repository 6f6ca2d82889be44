// SPDX-License-Identifier: Apache-2.0
// The writing end of a ring. See ring.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tutti/message/ring.hpp"

namespace tutti {

template <class Memory = native>
class alignas(cache_line) ring_writer {
  using place = ring_place<Memory>;
  using cell = typename place::cell;

 public:
  // A run is closed and published without a flush() after `batch` bytes.
  ring_writer(const place& where, std::size_t batch)
      : place_(where), batch_(detail::cells_of(batch)) {}

  // Precondition: fits_open_run(bytes).
  void append(const void* data, std::size_t bytes) noexcept {
    detail::copy_in(cursor_, data, bytes);
    cursor_ += step_;
  }
  bool fits_open_run(std::size_t bytes) const noexcept {
    return bytes == size_ && cursor_ != limit_;
  }
  // While a run has room for another message, there is room for one message of any small size.
  bool has_open_run() const noexcept { return cursor_ != limit_; }

  // Returns false if there is no room now. Then everything that was appended is published.
  bool append_to_new_run(const void* data, std::size_t bytes) {
    close();
    if (position_ - published_ >= batch_) publish();
    if (bytes > place_.largest_inside()) return append_outside(data, bytes);
    const std::uint64_t step = detail::cells_of(bytes);
    if (!reach(1 + step)) return false;
    open(bytes, step);
    append(data, bytes);
    return true;
  }

  // Whether there is room for one message of up to inline_message bytes.
  bool has_room() {
    if (has_open_run()) return true;
    close();
    if (room() >= place::reserve) return true;
    publish();
    return look_for_room() >= place::reserve;
  }

  // Whether append_to_new_run() would find room for `bytes` bytes, between two runs. It changes
  // nothing, so a waiting loop may call it.
  bool sees_room(std::size_t bytes) const noexcept {
    const std::uint64_t cells = bytes > place_.largest_inside() ? 2 : 1 + detail::cells_of(bytes);
    // acquire: as in look_for_room.
    const std::uint64_t freed = place_.readers->freed.load(Memory::order("ring.room", acquire));
    return place_.capacity - (position_ - freed) >= needed_for(cells);
  }
  // Tells the reader whether it has to wake this writer when it frees room. Call it before and
  // after a wait for room.
  void want_room(bool is_wanted) noexcept {
    // relaxed: the fence of the waiter that goes to sleep orders it; a late end costs a needless
    // wake-up.
    place_.writers->wants_room.store(is_wanted ? 1 : 0, relaxed);
  }

  // Whether something was appended that the reader cannot see yet.
  bool is_behind() const noexcept { return cursor_ != start_ || position_ != published_; }

  // Makes everything visible. Returns true if there was anything.
  bool flush() {
    close();
    return publish();
  }

  std::uint64_t published() const noexcept { return published_; }

  // Messages appended. A message is counted when its run is closed.
  std::uint64_t sent() const noexcept { return sent_; }

 private:
  struct outside_message {
    // The position of the cell behind the message.
    std::uint64_t position;
    std::size_t capacity;
    std::unique_ptr<std::byte[]> bytes;
  };

  // The cells needed for `cells` cells in a row, including the rest of the lap if they do not fit
  // into it.
  std::uint64_t needed_for(std::uint64_t cells) const noexcept {
    const std::uint64_t rest = place_.capacity - index(position_);
    return rest < cells ? rest + cells : cells;
  }

  // Makes `cells` cells in a row free at position_, which moves to the start of the next lap if
  // necessary. Returns false if there is no room.
  bool reach(std::uint64_t cells) {
    const std::uint64_t rest = place_.capacity - index(position_);
    const std::uint64_t needed = needed_for(cells);
    if (room() < needed && look_for_room() < needed) {
      publish();
      return false;
    }
    if (rest < cells) {
      put_header({.kind = detail::run_header::skip});
      position_ += rest;
    }
    return true;
  }

  void open(std::size_t bytes, std::uint64_t step) noexcept {
    const std::uint64_t rest = place_.capacity - index(position_) - 1;
    const std::uint64_t free = room() - 1;
    // The reserve stays free behind the run, as has_open_run() promises, or the run consists of
    // this message alone.
    const std::uint64_t spare = free > place::reserve ? free - place::reserve : 0;
    const std::uint64_t most = (std::min)(
        {batch_ / step, rest / step, spare / step, std::uint64_t{detail::run_header::most}});
    start_ = cursor_ = place_.cells + index(position_) + 1;
    limit_ = cursor_ + (std::max)(most, std::uint64_t{1}) * step;
    size_ = bytes;
    step_ = step;
  }

  void close() noexcept {
    const auto used = static_cast<std::uint64_t>(cursor_ - start_);
    if (used != 0) {
      const std::uint64_t count = used == step_ ? 1 : used / step_;
      put_header({static_cast<std::uint32_t>(size_), static_cast<std::uint32_t>(count)});
      position_ += 1 + used;
      sent_ += count;
    }
    start_ = cursor_ = limit_ = nullptr;
    size_ = no_size;
  }

  bool publish() noexcept {
    if (position_ == published_) return false;
    published_ = position_;
    // release: publishes headers and messages; pairs with the reader's look.
    place_.writers->published.store(position_, Memory::order("ring.publish", release));
    return true;
  }

  bool append_outside(const void* data, std::size_t bytes) {
    if (!reach(2)) return false;
    look_for_room();
    outside_message message{position_ + 2, 0, nullptr};
    // Buffers that the reader has released are freed, or used again if they are large enough.
    auto kept = outside_.begin();
    for (; kept != outside_.end() && kept->position <= freed_; ++kept)
      if (message.bytes == nullptr && kept->capacity >= bytes)
        message = {message.position, kept->capacity, std::move(kept->bytes)};
    outside_.erase(outside_.begin(), kept);
    if (message.bytes == nullptr) {
      message.bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
      message.capacity = bytes;
    }
    std::byte* const copy = message.bytes.get();
    std::memcpy(copy, data, bytes);
    // This may throw, so it comes before anything that the reader sees.
    outside_.push_back(std::move(message));
    put_header({static_cast<std::uint32_t>(bytes), 1, detail::run_header::outside});
    place_.cells[index(position_ + 1)] = reinterpret_cast<std::uintptr_t>(copy);
    position_ += 2;
    ++sent_;
    return true;
  }

  void put_header(detail::run_header header) noexcept {
    place_.cells[index(position_)] = header.packed();
  }
  std::uint64_t index(std::uint64_t position) const noexcept {
    return position & (place_.capacity - 1);
  }
  // Free cells behind position_, as of the last look.
  std::uint64_t room() const noexcept { return place_.capacity - (position_ - freed_); }
  std::uint64_t look_for_room() noexcept {
    // acquire: the reader has read these cells before I write them again; pairs with its release of
    // them.
    freed_ = place_.readers->freed.load(Memory::order("ring.room", acquire));
    return room();
  }

  static constexpr std::uint64_t no_size = UINT64_MAX;

  // The open run: where the next message goes, where the run must end, and where its messages
  // begin.
  cell* cursor_ = nullptr;
  cell* limit_ = nullptr;
  std::uint64_t size_ = no_size;
  std::uint64_t step_ = 1;
  cell* start_ = nullptr;
  // The position of the open run's header.
  std::uint64_t position_ = 0;
  std::uint64_t published_ = 0;
  // The freed position seen last.
  std::uint64_t freed_ = 0;
  std::uint64_t sent_ = 0;
  place place_;
  std::uint64_t batch_;
  // In the order of their positions.
  std::vector<outside_message> outside_;
};

}  // namespace tutti
