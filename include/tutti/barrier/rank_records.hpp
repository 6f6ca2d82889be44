// SPDX-License-Identifier: Apache-2.0
// A record for each rank. The records are made when the first rank needs one, because a barrier
// whose participants have no ranks needs none.
//
// With up to `most_apart` ranks each record has a cache line. The records of more ranks share
// lines, because those of 1000 ranks would take 128 kB. Sharing costs little: a participant writes
// its record while it waits for the episode anyway.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include "tutti/platform/config.hpp"

namespace tutti {

template <class Memory, class Record>
class rank_records {
 public:
  static constexpr rank_t most_apart = 8;

  explicit constexpr rank_records(rank_t participants) noexcept
      : n_(participants),
        stride_(participants <= most_apart ? apart : std::bit_ceil(sizeof(Record))) {}
  ~rank_records() {
    // relaxed: the thread that destroys has seen all others return.
    std::byte* const all = all_.load(relaxed);
    if (all != nullptr) destroy(all);
  }
  rank_records(const rank_records&) = delete;
  rank_records& operator=(const rank_records&) = delete;

  // Returns the record of a rank. The first call makes the records and may throw std::bad_alloc,
  // which changes nothing. Thread-safe.
  Record& operator[](rank_t rank) {
    // acquire: pairs with the publication, so that the records are seen complete.
    std::byte* all = all_.load(Memory::order("rank_records.find", acquire));
    if (all == nullptr) [[unlikely]]
      all = make();
    return at(all, rank);
  }

  // Makes the records, if there are none.
  void make_all() {
    if (n_ > 0) (*this)[0];
  }

  // Calls look(rank, record) for each rank, in ascending order, if there are records.
  template <class Look>
  void for_each(Look look) const {
    // acquire: as above.
    std::byte* const all = all_.load(Memory::order("rank_records.find", acquire));
    if (all == nullptr) return;
    for (rank_t rank = 0; rank < n_; ++rank) look(rank, at(all, rank));
  }

 private:
  static constexpr std::size_t apart = (sizeof(Record) + cache_line - 1) / cache_line * cache_line;
  static constexpr std::align_val_t alignment{cache_line};

  Record& at(std::byte* all, rank_t rank) const noexcept {
    return *std::launder(reinterpret_cast<Record*>(all + std::size_t{rank} * stride_));
  }

  [[gnu::cold, gnu::noinline]] std::byte* make() {
    auto* const made = static_cast<std::byte*>(::operator new(n_* stride_, alignment));
    for (rank_t rank = 0; rank < n_; ++rank)
      ::new (static_cast<void*>(made + std::size_t{rank} * stride_)) Record();
    std::byte* seen = nullptr;
    // acq_rel: release publishes the records; pairs with the load in operator[].
    // acquire: a failure sees the records of a thread that was faster.
    while (!all_.compare_exchange_weak(seen, made, Memory::order("rank_records.publish", acq_rel),
                                       Memory::order("rank_records.find", acquire))) {
      if (seen == nullptr) continue;
      destroy(made);
      return seen;
    }
    return made;
  }

  void destroy(std::byte* all) noexcept {
    for (rank_t rank = 0; rank < n_; ++rank) at(all, rank).~Record();
    ::operator delete(all, alignment);
  }

  typename Memory::template atomic<std::byte*> all_{nullptr};
  const rank_t n_;
  const std::size_t stride_;
};

}  // namespace tutti
