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

// Whatever the kind, the caller begins at once, others help if they come in time, and what nobody has begun the caller does
// itself (loop_desk.hpp).
enum class loop {
  // One block for each rank, sizes differ by at most one; each thread takes its own first, and nothing smaller than a block
  // is taken.
  static_blocks,
  static_chunks,  // chunks dealt in turn: for work that grows or shrinks along the loop
  dynamic_chunks,  // whoever is free takes the next chunk, or chunks if they are cheap: for work of unknown length
  guided_chunks,  // the same, chunks shrinking with what is left: fewer visits to the counter
  // The blocks of static_blocks, begun in the same way, but in pieces whose size follows from what the loop has cost so far;
  // who is through takes pieces from others.
  adaptive
};

struct loop_options {
  loop kind = loop::adaptive;
  // Iterations at a time; for guided_chunks and adaptive the least. 0: tutti's choice, 1 for static_chunks and
  // guided_chunks, so many for dynamic_chunks that each rank takes about 16.
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
// register of any width: the bits stay. Large values go one after the other. In as many steps as one likes. first < last.
template <class T, class Op, class F>
class range_sum {
 public:
  range_sum(std::size_t first, std::size_t last) noexcept : at_(first), last_(last) {}

  bool is_done() const noexcept { return at_ == last_; }

  // Goes on to about `to`, at least one step and at most to the end; returns where it is.
  std::size_t go_on(std::size_t to, Op& op, F& f) {
    if (!is_begun_) begin(op, f);
    if (at_ == last_) return at_;
    const std::size_t goal = std::clamp(to, at_, last_);
    const std::size_t steps = std::max<std::size_t>(1, (goal - at_) / lanes);
    // A copy, which may live in registers.
    std::array<T, lanes> sums = sums_;
    std::size_t i = at_;
    for (std::size_t step = 0; step < steps && last_ - i >= lanes; ++step, i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) sums[k] = op(sums[k], f(i + k));
    if (last_ - i < lanes)
      for (std::size_t k = 0; i < last_; ++i, ++k) sums[k] = op(sums[k], f(i));
    sums_ = sums;
    return at_ = i;
  }

  // Once it is done.
  T value(Op& op) const {
    return in_order_ ? sums_[0]
                     : schedule::fold(
                           0, lanes, [&](rank_t k) { return sums_[k]; }, op);
  }

 private:
  static constexpr std::size_t lanes = sizeof(T) <= 32 ? 8 : 1;

  void begin(Op& op, F& f) {
    is_begun_ = true;
    in_order_ = last_ - at_ < 2 * lanes;
    if (!in_order_) {
      for (std::size_t k = 0; k < lanes; ++k) sums_[k] = f(at_ + k);
      at_ += lanes;
      return;
    }
    sums_[0] = f(at_);
    for (++at_; at_ < last_; ++at_) sums_[0] = op(sums_[0], f(at_));
  }

  std::size_t at_, last_;
  bool is_begun_ = false, in_order_ = false;
  std::array<T, lanes> sums_{};
};

// A loop as src/team/loop.cpp runs it. Positions count from 0.
class loop_work {
 public:
  loop_work() = default;
  loop_work(const loop_work&) = delete;
  loop_work& operator=(const loop_work&) = delete;

  // The caller's thread only: from `from` to about `to`, at least one position; returns where it got to. If there are
  // blocks: within block `block`, which it begins at the beginning.
  virtual std::size_t step(std::size_t block, std::size_t from, std::size_t to) = 0;
  // Any thread: positions from .. to-1, or blocks.
  virtual void part(rank_t thread, std::size_t from, std::size_t to) = 0;
  // Where block `block` begins; `blocks` is the end.
  virtual std::size_t bound(std::size_t block) const noexcept = 0;

 protected:
  ~loop_work() = default;
};

struct loop_request {
  std::size_t count = 0;  // positions
  loop_options how = {};
  std::size_t blocks = 0;  // 0: the loop may be divided anywhere
  // What a position of this loop's body has cost, in 64ths of a tick; 0: not known. A hint.
  std::atomic<std::uint32_t>* cost = nullptr;
};

// A memory for each type of body: nearly always a place in the program.
template <class Body>
inline std::atomic<std::uint32_t> cost_of_loop{0};

// Blocks of a loop whose bits do not depend on the number of ranks: enough for some tens of ranks to be balanced, few
// enough to be combined by one in about 100 ns.
inline constexpr std::size_t any_blocks = 128;

}  // namespace detail

}  // namespace tutti
