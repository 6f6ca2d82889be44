// SPDX-License-Identifier: Apache-2.0
// How the iterations of a loop are dealt to ranks, and in which order a reducing loop combines them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "tutti/platform/config.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti {

enum class loop {
  static_blocks,  // one block for each rank, sizes differ by at most one: no communication, same part every time
  static_chunks,   // chunks dealt in turn: for work that grows or shrinks along the loop
  dynamic_chunks,  // whoever is free takes the next chunk: for work of unknown length
  guided_chunks    // the same, chunks shrinking with what is left: fewer visits to the counter
};

struct loop_options {
  loop kind = loop::static_blocks;
  // Iterations at a time; for guided_chunks the least. 0: tutti's choice, 1 for static_chunks and guided_chunks, so many
  // for dynamic_chunks that each rank takes about 16.
  std::size_t chunk = 0;
};

namespace detail {

// Whatever a loop keeps a value for: an operation with an identity, or one without, where "nothing yet" is a flag.
template <class T, class Op>
inline constexpr bool has_identity = requires(const Op& op) {
  op.template identity<T>();
};

template <class T>
struct maybe {
  T value{};
  bool is_there = false;
};
template <class Op>
struct combine_maybe {
  Op op;
  template <class T>
  maybe<T> operator()(const maybe<T>& a, const maybe<T>& b) const {
    if (!a.is_there) return b;
    if (!b.is_there) return a;
    return {op(a.value, b.value), true};
  }
};

// f(first), ..., f(last-1) combined in an order that only depends on the bounds: eight lanes, lane k taking every eighth
// from first + k on, then the lanes in the order of the tournament. A compiler may put lanes side by side into a vector
// register of any width: the bits stay. Large values go one after the other. first < last.
template <class T, class Op, class F>
T combine_range(std::size_t first, std::size_t last, Op& op, F& f) {
  constexpr std::size_t lanes = sizeof(T) <= 32 ? 8 : 1;
  if (last - first < 2 * lanes) {
    T sum = f(first);
    for (std::size_t i = first + 1; i < last; ++i) sum = op(sum, f(i));
    return sum;
  }
  std::array<T, lanes> sums;
  for (std::size_t k = 0; k < lanes; ++k) sums[k] = f(first + k);
  std::size_t i = first + lanes;
  for (; last - i >= lanes; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) sums[k] = op(sums[k], f(i + k));
  for (std::size_t k = 0; i < last; ++i, ++k) sums[k] = op(sums[k], f(i));
  return schedule::fold(
      0, lanes, [&](rank_t k) { return sums[k]; }, op);
}

// Hands out the chunks of a loop to whoever asks.
class loop_counter {
 public:
  // `share`: take a share-th part of what is left, `chunk` at least; 0: always `chunk`.
  loop_counter(std::size_t count, std::size_t chunk, std::size_t share) noexcept
      : count_(count), chunk_(chunk), share_(share) {}

  std::size_t count() const noexcept { return count_; }

  // False when there is nothing left.
  bool take(std::size_t& from, std::size_t& to) noexcept {
    // relaxed: only who takes what is decided here; the region's opening and end order the work.
    from = next_.load(relaxed);
    std::size_t size = 0;
    do {
      if (from >= count_) return false;
      const std::size_t left = count_ - from;
      size = std::min(left, share_ == 0 ? chunk_ : std::max(chunk_, left / share_));
      // relaxed: as above.
    } while (!next_.compare_exchange_weak(from, from + size, relaxed, relaxed));
    to = from + size;
    return true;
  }

 private:
  const std::size_t count_, chunk_, share_;
  alignas(cache_line) std::atomic<std::size_t> next_{0};
};

// Blocks of a loop whose bits do not depend on the number of ranks: enough for some tens of ranks to be balanced, few
// enough to be combined by one in about 100 ns.
inline constexpr std::size_t any_blocks = 128;

}  // namespace detail

}  // namespace tutti
