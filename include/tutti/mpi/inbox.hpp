// SPDX-License-Identifier: Apache-2.0
// The packets that hold messages for one participant, oldest first. The thread whose turn it is to
// call MPI fills it; the participant empties it. It cannot overflow, because a sender waits when
// too many of its packets are under way.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/mpi/packet.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::mpi {

struct inbox_entry {
  packet* home = nullptr;
  // The first record of this participant.
  std::uint32_t record = 0;
  // The sending participant.
  std::uint32_t source = 0;
  // The sender's episode.
  std::uint64_t episode = 0;
};

class inbox {
 public:
  explicit inbox(std::size_t most) : entries_(std::bit_ceil(most + 1)) {}

  void push(const inbox_entry& entry) noexcept {
    // relaxed: only the thread whose turn it is writes it.
    const std::size_t at = written_.load(relaxed);
    entries_[at % entries_.size()] = entry;
    // release: publishes the entry and the packet; pairs with the look in front().
    written_.store(at + 1, release);
  }
  // Returns null if there is none.
  const inbox_entry* front() const noexcept {
    // acquire: pairs with push.
    if (read_ == written_.load(acquire)) return nullptr;
    return &entries_[read_ % entries_.size()];
  }
  void pop() noexcept { ++read_; }

 private:
  std::vector<inbox_entry> entries_;
  alignas(cache_line) std::atomic<std::size_t> written_{0};
  alignas(cache_line) std::size_t read_ = 0;
};

}  // namespace tutti::mpi
