// SPDX-License-Identifier: Apache-2.0
// The messages of a participant to itself, in their order. They never travel in a packet and are
// never refused. Memory blocks are reused, so a steady stream allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "tutti/comm/endpoint_concept.hpp"
#include "tutti/mpi/packet.hpp"

namespace tutti::mpi {

class self_queue {
 public:
  explicit self_queue(rank_t rank) : rank_(rank) {}

  void push(const void* data, std::size_t bytes) {
    const std::size_t needed = sizeof(std::uint64_t) + padded_to_8(bytes);
    if (blocks_.empty() || blocks_.back()->size - blocks_.back()->written < needed) extend(needed);
    block& last = *blocks_.back();
    const std::uint64_t size = bytes;
    std::memcpy(last.bytes.get() + last.written, &size, sizeof size);
    // `data` may be null for an empty message, which memcpy does not allow.
    if (bytes != 0) std::memcpy(last.bytes.get() + last.written + sizeof size, data, bytes);
    last.written += needed;
    ++last.unreleased;
    ++waiting_;
  }
  bool has_message() const noexcept { return waiting_ != 0; }
  received take() noexcept {
    while (blocks_[reading_]->read == blocks_[reading_]->written) ++reading_;
    block& from = *blocks_[reading_];
    std::uint64_t size = 0;
    std::memcpy(&size, from.bytes.get() + from.read, sizeof size);
    const received message{from.bytes.get() + from.read + sizeof size,
                           static_cast<std::uint32_t>(size), rank_,
                           reinterpret_cast<std::uintptr_t>(&from)};
    from.read += sizeof size + padded_to_8(size);
    --waiting_;
    ++held_;
    return message;
  }
  void release(std::uint64_t index) {
    // NOLINTNEXTLINE: the address that take() put there.
    --reinterpret_cast<block*>(index)->unreleased;
    --held_;
    while (blocks_.front()->unreleased == 0 && retire_first()) {
    }
  }
  std::uint64_t held() const noexcept { return held_; }

 private:
  struct block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0, written = 0, read = 0;
    // Messages that wait or are held.
    std::uint64_t unreleased = 0;
  };
  static constexpr std::size_t usual_size = 16 * 1024;

  void extend(std::size_t needed) {
    std::unique_ptr<block> next = needed <= usual_size ? std::move(spare_) : nullptr;
    if (next == nullptr) {
      next = std::make_unique<block>();
      next->size = (std::max)(needed, usual_size);
      next->bytes = std::make_unique_for_overwrite<std::byte[]>(next->size);
    }
    blocks_.push_back(std::move(next));
  }
  // Returns false once only one block is left, which is reused in place.
  bool retire_first() {
    block& first = *blocks_.front();
    first.written = first.read = 0;
    if (blocks_.size() == 1) return false;
    if (first.size == usual_size) spare_ = std::move(blocks_.front());
    blocks_.pop_front();
    if (reading_ > 0) --reading_;
    return true;
  }

  rank_t rank_;
  std::deque<std::unique_ptr<block>> blocks_;
  std::unique_ptr<block> spare_;
  std::size_t reading_ = 0;
  std::uint64_t waiting_ = 0;
  std::uint64_t held_ = 0;
};

}  // namespace tutti::mpi
