// SPDX-License-Identifier: Apache-2.0
// The templates of team's loops: they wrap a loop's body as a loop_work, which define_loops.hpp
// distributes.
// Hosted only: it needs threads and the compiled library.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "tutti/reduce/fold.hpp"
#include "tutti/team/team_class.hpp"

namespace tutti {

namespace detail {

// Calls f(i) for each i.
template <class F>
class index_loop final : public loop_work {
 public:
  index_loop(std::size_t first, F& f) : first_(first), f_(f) {}

  std::size_t step(std::size_t, std::size_t from, std::size_t to) override {
    part(0, from, to);
    return to;
  }
  void part(rank_t, std::size_t from, std::size_t to) override {
    if constexpr (is_copied) {
      // No other thread sees this copy, so its captures may stay in registers.
      const std::remove_const_t<F> f = f_;
      for (std::size_t i = first_ + from, end = first_ + to; i < end; ++i) f(i);
    } else {
      for (std::size_t i = first_ + from, end = first_ + to; i < end; ++i) f_(i);
    }
  }
  std::size_t bound(std::size_t) const noexcept override { return 0; }

 private:
  static constexpr bool is_copied = [] {
    if constexpr (std::is_function_v<F>)
      return false;
    else
      return std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> &&
             sizeof(F) <= 64 && std::is_invocable_v<const F&, std::size_t>;
  }();

  const std::size_t first_;
  F& f_;
};

// Calls f(member, from, to) for parts.
template <class Member, class F>
class parts_loop final : public loop_work {
 public:
  parts_loop(std::size_t first, array<Member>* helpers, F& f)
      : first_(first), helpers_(helpers), f_(f) {}

  std::size_t step(std::size_t, std::size_t from, std::size_t to) override {
    part(0, from, to);
    return to;
  }
  void part(rank_t thread, std::size_t from, std::size_t to) override {
    f_((*helpers_)[thread], first_ + from, first_ + to);
  }
  std::size_t bound(std::size_t) const noexcept override { return 0; }

 private:
  const std::size_t first_;
  array<Member>* const helpers_;
  F& f_;
};

// Writes the combined f(i) of each block to sums[block].
template <class T, class Op, class F, class Bounds, std::size_t Lanes = lanes_of_loop<T>>
class block_sums final : public loop_work {
 public:
  block_sums(Bounds bounds, Op& op, F& f, T* sums) : bounds_(bounds), op_(op), f_(f), sums_(sums) {}

  std::size_t step(std::size_t block, std::size_t from, std::size_t to) override {
    const std::size_t first = bounds_(block);
    if (from == bounds_.position(block)) mine_.emplace(first, bounds_(block + 1));
    const std::size_t at = mine_->go_on(first + (to - bounds_.position(block)), op_, f_);
    if (mine_->is_done()) sums_[block] = mine_->value(op_);
    return bounds_.position(block) + (at - first);
  }
  void part(rank_t, std::size_t from, std::size_t to) override {
    for (std::size_t block = from; block < to; ++block) {
      range_sum<T, Op, F, Lanes> sum(bounds_(block), bounds_(block + 1));
      while (!sum.is_done()) sum.go_on(bounds_(block + 1), op_, f_);
      sums_[block] = sum.value(op_);
    }
  }
  std::size_t bound(std::size_t block) const noexcept override { return bounds_.position(block); }

 private:
  const Bounds bounds_;
  Op& op_;
  F& f_;
  T* const sums_;
  // The caller's block.
  std::optional<range_sum<T, Op, F, Lanes>> mine_;
};

// Divides a loop as member::block does: sizes differ by at most one, and the longer blocks come
// first.
struct even_bounds {
  std::size_t first, share, rest;
  even_bounds(std::size_t begin, std::size_t count, std::size_t blocks) noexcept
      : first(begin), share(count / blocks), rest(count % blocks) {}
  std::size_t position(std::size_t block) const noexcept {
    return block * share + (block < rest ? block : rest);
  }
  std::size_t operator()(std::size_t block) const noexcept { return first + position(block); }
};
// Divides a loop as parallel_reduce_any does.
struct any_bounds {
  std::size_t first, count, blocks;
  std::size_t position(std::size_t block) const noexcept { return count * block / blocks; }
  std::size_t operator()(std::size_t block) const noexcept { return first + position(block); }
};

// An array of values that is on the stack if they are few and small.
template <class T>
class short_array {
 public:
  explicit short_array(std::size_t count) {
    if (count > few) many_.emplace(count);
  }
  T* data() noexcept { return many_ ? many_->begin() : here_.data(); }

 private:
  static constexpr std::size_t few = sizeof(T) <= 64 ? 16 : 1;
  std::array<T, few> here_{};
  std::optional<array<T>> many_;
};

}  // namespace detail

template <class Memory>
template <class F>
void basic_team<Memory>::parallel_for(std::size_t first, std::size_t last, F&& f,
                                      loop_options how) {
  detail::index_loop<std::remove_reference_t<F>> work(first, f);
  run_calls<F>(work, first, last, how);
}

template <class Memory>
template <class F>
void basic_team<Memory>::parallel_parts(std::size_t first, std::size_t last, F&& f,
                                        loop_options how) {
  detail::parts_loop<member, std::remove_reference_t<F>> work(first, &*helpers_, f);
  run_calls<F>(work, first, last, how);
}

template <class Memory>
template <class F>
void basic_team<Memory>::run_calls(detail::loop_work& work, std::size_t first, std::size_t last,
                                   loop_options how) {
  if (first >= last) return;
  using callable = std::remove_reference_t<F>;
  run_loop(work, {last - first, how, 0, &detail::cost_of_loop<Memory, callable>});
}

template <class Memory>
template <class Op, class F>
auto basic_team<Memory>::parallel_reduce(std::size_t first, std::size_t last, Op op, F&& f) {
  using T = std::remove_cvref_t<std::invoke_result_t<F&, std::size_t>>;
  return reduce_blocks<T, detail::lanes_of_loop<T>>(first, last, detail::usable<T>(op), f);
}

template <class Memory>
template <class Op, class F>
auto basic_team<Memory>::parallel_reduce_in_order(std::size_t first, std::size_t last, Op op,
                                                  F&& f) {
  using T = std::remove_cvref_t<std::invoke_result_t<F&, std::size_t>>;
  return reduce_blocks<T, 1>(first, last, detail::usable<T>(op), f);
}

template <class Memory>
template <class T, std::size_t Lanes, class Op, class F>
T basic_team<Memory>::reduce_blocks(std::size_t first, std::size_t last, Op op, F& f) {
  using callable = std::remove_reference_t<F>;
  constexpr bool has_identity = detail::has_identity<T, Op>;
  const std::size_t count = last > first ? last - first : 0;
  // The blocks that are not empty come first.
  const std::size_t filled = std::min<std::size_t>(count, ranks_);
  const std::size_t terms = has_identity ? ranks_ : filled;
  if (terms == 0) return T{};
  detail::short_array<T> values(terms);
  T* const sums = values.data();
  if constexpr (has_identity)
    for (std::size_t b = filled; b < terms; ++b) sums[b] = Op::template identity<T>();
  if (filled > 0) {
    const detail::even_bounds bounds(first, count, ranks_);
    detail::block_sums<T, Op, callable, detail::even_bounds, Lanes> work(bounds, op, f, sums);
    run_loop(work, {count, {}, filled, &detail::cost_of_loop<Memory, callable>});
  }
  return canonical(schedule::fold(
      0, static_cast<rank_t>(terms), [&](rank_t b) -> const T& { return sums[b]; },
      [&](const T& a, const T& b) { return op(a, b); }));
}

template <class Memory>
template <class Op, class F>
auto basic_team<Memory>::parallel_reduce_any(std::size_t first, std::size_t last, Op given, F&& f) {
  using callable = std::remove_reference_t<F>;
  using T = std::remove_cvref_t<std::invoke_result_t<F&, std::size_t>>;
  auto&& op = detail::usable<T>(given);
  using operation = std::remove_reference_t<decltype(op)>;
  const std::size_t count = last > first ? last - first : 0;
  const std::size_t blocks = (std::min)(count, detail::any_blocks);
  if (blocks == 0) {
    if constexpr (detail::has_identity<T, Op>) return Op::template identity<T>();
    return T{};
  }
  // The sums are on the heap because a value may be large.
  array<T> sums(blocks);
  detail::block_sums<T, operation, callable, detail::any_bounds> work({first, count, blocks}, op, f,
                                                                      sums.begin());
  run_loop(work, {count, {}, blocks, &detail::cost_of_loop<Memory, callable>});
  return canonical(schedule::fold(
      0, static_cast<rank_t>(blocks), [&](rank_t b) -> const T& { return sums[b]; },
      [&](const T& a, const T& b) { return op(a, b); }));
}

}  // namespace tutti
