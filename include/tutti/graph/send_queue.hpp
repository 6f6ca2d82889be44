// SPDX-License-Identifier: Apache-2.0
// The vertices of one participant that want to send. A vertex is in the queue at most once, however
// often it asks.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/graph/csr.hpp"
#include "tutti/graph/pin.hpp"

namespace tutti::graph {

// Which vertex sends next: the one that has waited longest, or the one that asked last, as in the
// machine of Naylor et al. 2020. The results of a correct program do not depend on the order. The
// number of messages of an asynchronous program does: shortest paths take a few messages per vertex
// in the first order, and many times as many in the second.
enum class send_order : std::uint8_t { first_in_first_out, last_in_first_out };

namespace detail {

class send_queue {
 public:
  send_queue(vertex_t vertices, send_order order)
      : entries_(vertices, pin::none().code()),
        mask_(std::bit_ceil(std::size_t{vertices} + 1) - 1),
        ring_(std::make_unique_for_overwrite<vertex_t[]>(mask_ + 1)),
        newest_first_(order == send_order::last_in_first_out) {}

  pin wanted(vertex_t local) const noexcept { return pin::from_code(entries_[local] & ~queued); }

  void want(vertex_t local, pin where) noexcept {
    std::uint32_t& entry = entries_[local];
    const bool is_queued = (entry & queued) != 0;
    if (is_queued || where == no_pin) {
      entry = where.code() | (is_queued ? queued : 0);
      return;
    }
    entry = where.code() | queued;
    ring_[end_++ & mask_] = local;
  }

  bool empty() const noexcept { return begin_ == end_; }

  // The next sender. It may not want to send any more. Precondition: not empty().
  vertex_t take() noexcept {
    const vertex_t local = newest_first_ ? ring_[--end_ & mask_] : ring_[begin_++ & mask_];
    entries_[local] &= ~queued;
    return local;
  }
  // Call this after the vertex's send(): the vertex waits again if it is still ready.
  void put_back(vertex_t local) noexcept { want(local, wanted(local)); }

 private:
  static constexpr std::uint32_t queued = 1u << 31;

  // By vertex: the pin that it asked for, and whether it is in the ring.
  std::vector<std::uint32_t> entries_;
  std::size_t mask_;
  // Not initialised: a program whose vertices send in their turns never touches this memory.
  std::unique_ptr<vertex_t[]> ring_;
  std::size_t begin_ = 0, end_ = 0;
  bool newest_first_;
};

}  // namespace detail
}  // namespace tutti::graph
