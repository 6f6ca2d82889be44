// SPDX-License-Identifier: Apache-2.0
// How the iterations of a loop are distributed over the ranks, and in which order a reducing loop
// combines its values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>

#include "tutti/platform/config.hpp"
#include "tutti/schedule/tournament.hpp"

namespace tutti {

// With every kind the caller begins at once, threads that come in time help, and the caller runs
// the parts that no other thread has begun (loop_desk.hpp).
enum class loop {
  // Each rank has one block. The sizes differ by at most one. Each thread takes its own block
  // first, and threads take whole blocks only.
  static_blocks,
  // Each rank has chunks in turn. Use it for work that grows or shrinks along the loop.
  static_chunks,
  // A thread that is free takes the next chunk, or several if they are cheap. Use it for work of
  // unknown length.
  dynamic_chunks,
  // The same, but chunks shrink with what is left, so threads access the shared counter less often.
  guided_chunks,
  // Each rank has one block, as with static_blocks, but threads take pieces of it. The size of the
  // pieces follows from what the loop has cost so far. A thread that has finished takes pieces from
  // others.
  adaptive
};

struct loop_options {
  loop kind = loop::adaptive;
  // The number of iterations that a thread takes at a time; for guided_chunks and adaptive the
  // least. 0 lets tutti choose: 1 for static_chunks and guided_chunks, and for dynamic_chunks a
  // number that gives each rank about 16 chunks.
  std::size_t chunk = 0;
};

namespace detail {

// Whether an operation has an identity for T. Without one, `maybe` marks a value that does not
// exist yet.
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

// Combines f(first), ..., f(last-1), where first < last, in an order that depends only on the
// bounds: there are eight lanes, lane k takes every eighth value from first + k on, and then the
// lanes are combined in the order of the tournament. A compiler may put the lanes into vector
// registers of any width without changing the bits. Large values are combined one after the other.
// The caller divides the work into any number of steps. With one lane the order is that of i.
template <class T>
inline constexpr std::size_t lanes_of_loop = sizeof(T) <= 32 ? 8 : 1;
template <class T, class Op, class F, std::size_t lanes = lanes_of_loop<T>>
class range_sum {
 public:
  range_sum(std::size_t first, std::size_t last) noexcept : at_(first), last_(last) {}

  bool is_done() const noexcept { return at_ == last_; }

  // Continues to about `to`, for at least one step and at most to the end. Returns the new
  // position.
  std::size_t go_on(std::size_t to, Op& op, F& f) {
    if (!is_begun_) begin(op, f);
    if (at_ == last_) return at_;
    const std::size_t goal = std::clamp(to, at_, last_);
    const std::size_t steps = std::max<std::size_t>(1, (goal - at_) / lanes);
    // The copy may stay in registers.
    std::array<T, lanes> sums = sums_;
    std::size_t i = at_;
    for (std::size_t step = 0; step < steps && last_ - i >= lanes; ++step, i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) sums[k] = op(sums[k], f(i + k));
    if (last_ - i < lanes)
      for (std::size_t k = 0; i < last_; ++i, ++k) sums[k] = op(sums[k], f(i));
    sums_ = sums;
    return at_ = i;
  }

  // Returns the result. is_done() must be true.
  T value(Op& op) const {
    return in_order_ ? sums_[0]
                     : schedule::fold(
                           0, lanes, [&](rank_t k) { return sums_[k]; }, op);
  }

 private:
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

// The interface through which define_loops.hpp runs a loop. Positions are counted from 0.
class loop_work {
 public:
  loop_work() = default;
  loop_work(const loop_work&) = delete;
  loop_work& operator=(const loop_work&) = delete;

  // Runs positions from `from` to about `to`, at least one, and returns the position that it
  // reached. Only the caller's thread calls it. If the loop has blocks, the positions are within
  // block `block`, which begins with its first position.
  virtual std::size_t step(std::size_t block, std::size_t from, std::size_t to) = 0;
  // Runs positions from .. to-1, or these blocks if the loop has blocks. Any thread may call it.
  virtual void part(rank_t thread, std::size_t from, std::size_t to) = 0;
  // Returns the first position of a block. For block number `blocks` it returns the end.
  virtual std::size_t bound(std::size_t block) const noexcept = 0;

 protected:
  ~loop_work() = default;
};

template <class Memory>
struct loop_request {
  // The number of positions.
  std::size_t count = 0;
  loop_options how = {};
  // The number of blocks. 0: the loop may be divided anywhere.
  std::size_t blocks = 0;
  // What a position of this loop's body has cost, in 64ths of a tick, or 0 if it is unknown. A
  // hint.
  typename Memory::template setting<std::uint32_t>* cost = nullptr;
};

// The cost for each type of body, which nearly always stands for one loop of the program.
template <class Memory, class Body>
inline typename Memory::template setting<std::uint32_t> cost_of_loop{0};

// The number of blocks of a loop whose bits do not depend on the number of ranks. They are enough
// to balance some tens of ranks, and few enough for one thread to combine them in about 100 ns.
inline constexpr std::size_t any_blocks = 128;

}  // namespace detail

}  // namespace tutti
