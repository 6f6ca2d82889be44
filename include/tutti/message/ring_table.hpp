// SPDX-License-Identifier: Apache-2.0
// The rings between all participants of a process, themselves included: the memory for cells and
// lines, and which ring connects which participants.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/message/ring.hpp"
#include "tutti/platform/array.hpp"

namespace tutti {

template <class Memory = native>
class ring_table {
  using place = ring_place<Memory>;

 public:
  // `ring_bytes` is the size of each ring, rounded up to a power of two. 0 chooses a size by the
  // number of participants.
  explicit ring_table(rank_t participants, std::size_t ring_bytes = 0)
      : n_(participants),
        capacity_(capacity_of(ring_bytes == 0 ? default_bytes(participants) : ring_bytes)),
        lines_(std::size_t{n_} * n_),
        cells_(std::size_t{n_} * n_ * capacity_) {}

  std::size_t ring_bytes() const noexcept { return capacity_ * sizeof(std::uint64_t); }

  // The rings that `writer` writes, or that `reader` reads, in the order of the other end's rank.
  std::vector<place> from(rank_t writer) {
    std::vector<place> places;
    for (rank_t reader = 0; reader < n_; ++reader) places.push_back(ring(writer, reader));
    return places;
  }
  std::vector<place> to(rank_t reader) {
    std::vector<place> places;
    for (rank_t writer = 0; writer < n_; ++writer) places.push_back(ring(writer, reader));
    return places;
  }

 private:
  // All the rings of one participant together stay within a second-level cache.
  static std::size_t default_bytes(rank_t n) noexcept {
    constexpr std::size_t most = 16 * 1024, least = 1024, of_a_participant = 256 * 1024;
    return std::clamp(of_a_participant / n, least, most);
  }
  static std::uint64_t capacity_of(std::size_t bytes) noexcept {
    return std::bit_ceil(std::max<std::uint64_t>(bytes / sizeof(std::uint64_t), place::smallest));
  }

  place ring(rank_t writer, rank_t reader) {
    const std::size_t forth = std::size_t{writer} * n_ + reader;
    const std::size_t back = std::size_t{reader} * n_ + writer;
    return {&cells_[forth * capacity_], capacity_, &lines_[forth], &lines_[back]};
  }

  rank_t n_;
  std::uint64_t capacity_;
  array<ring_line<Memory>> lines_;
  array<typename place::cell> cells_;
};

}  // namespace tutti
