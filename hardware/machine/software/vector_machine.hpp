// SPDX-License-Identifier: Apache-2.0
// A vector machine as Hetland et al. 2019, section 2, describes it, and as engine spmd of vcode/
// has it: every core interprets the program with a stack of its own, vectors are shared, each core
// computes its part, and a barrier ends every instruction. Vectors of one element are values of
// each core. What an instruction does to an element is vcode/kernels/operations.hpp. It knows the
// instructions of vector_program.hpp, and segment descriptors of one segment.
#pragma once

#include "hardware/machine/software/machine.h"
#include "hardware/machine/software/vector_program.hpp"
#include "vcode/kernels/operations.hpp"

namespace tutti::rtl {

inline constexpr std::uint32_t most_elements = 4096;

// What the cores share. It needs no first values.
class vector_memory {
 public:
  static constexpr std::uint32_t blocks = 24;

  template <class T>
  T* block(std::uint32_t number) noexcept {
    return reinterpret_cast<T*>(blocks_[number].bytes);
  }

  // What each core tells the others. One set for odd episodes, one for even ones: a set is written
  // again only after the barrier of the other one, when all have read it.
  struct alignas(128) desk {
    std::int32_t part[2];
    bool holds[2];
  };
  desk desks[MOST_CORES];
  // Which element PERMUTE moves to each place.
  alignas(128) std::int32_t mover[most_elements];

 private:
  // Six lines more, so that a core's parts of several vectors are not in the same set of its cache.
  struct alignas(128) bytes_of_block {
    std::uint8_t bytes[most_elements * sizeof(std::int32_t) + 384];
  };
  bytes_of_block blocks_[blocks];
};

template <class Meet>
class vector_machine {
 public:
  enum class failure : std::uint32_t {
    none,
    lengths,
    index_outside,
    index_twice,
    no_flag,
    no_memory,
    instruction
  };

  vector_machine(vector_memory& memory, std::uint32_t rank, std::uint32_t ranks,
                 Meet& meet) noexcept
      : memory_(memory), rank_(rank), ranks_(ranks), barrier_(meet) {
    for (std::uint32_t b = 0; b < vector_memory::blocks; ++b) free_[b] = b;
  }

  // Executes the function at code[0] with one vector, whose elements input(i) gives. All cores call
  // it together, and all return the same.
  template <class Input>
  failure run(const vector_instruction* code, std::uint32_t elements, Input input) {
    while (top_ > 0) release(stack_[--top_]);
    value given = make(kind::integer, static_cast<std::int32_t>(elements));
    if (failed_ != failure::none) return failed_;
    write<std::int32_t>(given, input);
    push(given);
    meet();
    instructions_ = meets_ = 0;
    const std::uint32_t start = ::cycles();
    const failure how = interpret(code);
    cycles_ = ::cycles() - start;
    return how;
  }

  // What the last run has executed; barriers include those inside instructions. Cycles of this
  // core.
  std::uint32_t instructions() const noexcept { return instructions_; }
  std::uint32_t meets() const noexcept { return meets_; }
  std::uint32_t cycles() const noexcept { return cycles_; }
  // Element i of the vector of INT on the top. Valid until the next run.
  std::uint32_t length() const noexcept {
    return static_cast<std::uint32_t>(stack_[top_ - 1].length);
  }
  std::int32_t element(std::uint32_t i) const noexcept {
    const value& v = stack_[top_ - 1];
    return v.is_scalar() ? v.scalar : memory_.block<std::int32_t>(v.block)[i];
  }

 private:
  enum class kind : std::uint8_t { integer, boolean, segments };
  struct value {
    kind type = kind::integer;
    std::uint8_t block = 0;
    // A segment descriptor has the length of its segment here.
    std::int32_t length = 0;
    std::int32_t scalar = 0;
    bool is_scalar() const noexcept { return type == kind::segments || length == 1; }
  };
  struct range {
    std::uint32_t begin, end;
  };

  failure interpret(const vector_instruction* code) {
    std::uint32_t returns[32], depth = 0, at = 0;
    for (;;) {
      const vector_instruction& now = code[at++];
      const std::uint32_t meets = meets_;
      ++instructions_;
      switch (now.code) {
        using enum vcode::opcode;
        case branch_if:
          if (!take_flag()) at = static_cast<std::uint32_t>(now.first);
          break;
        case branch_else: at = static_cast<std::uint32_t>(now.first); break;
        case end_if: break;
        case call:
          if (depth == 32) return failure::no_memory;
          returns[depth++] = at;
          at = static_cast<std::uint32_t>(now.first);
          break;
        case ret:
          if (depth == 0) {
            meet();
            return failed_;
          }
          at = returns[--depth];
          break;
        default: execute(now);
      }
      if (meets_ == meets) meet();
      if (failed_ != failure::none) return failed_;
    }
  }

  void execute(const vector_instruction& now) {
    namespace op = vcode::op;
    switch (now.code) {
      using enum vcode::opcode;
      case copy:
        for (std::int32_t i = 0; i < now.first; ++i) {
          const value& v = stack_[top_ - static_cast<std::uint32_t>(now.first + now.second)];
          if (!v.is_scalar()) ++references_[v.block];
          push(v);
        }
        break;
      case pop: {
        value* const end = stack_ + top_ - now.second;
        value* const begin = end - now.first;
        for (value* v = begin; v != end; ++v) release(*v);
        for (std::int32_t i = 0; i < now.second; ++i) begin[i] = end[i];
        top_ -= static_cast<std::uint32_t>(now.first);
        break;
      }
      case cpop:
        for (std::int32_t i = 0; i < now.first; ++i) {
          value* const begin = stack_ + top_ - now.first - now.second;
          const value moved = *begin;
          for (value* v = begin; v + 1 != stack_ + top_; ++v) *v = v[1];
          stack_[top_ - 1] = moved;
        }
        break;
      case constant: push({kind::integer, 0, 1, now.first}); break;
      case length: {
        const value v = take();
        push({kind::integer, 0, 1, v.length});
        release(v);
        break;
      }
      case make_segdes: push({kind::segments, 0, take().scalar, 0}); break;
      case add: map2<op::add, std::int32_t>(); break;
      case subtract: map2<op::subtract, std::int32_t>(); break;
      case shift_right: map2<op::shift_right, std::int32_t>(); break;
      case logical_and: map2<op::logical_and, std::int32_t>(); break;
      case less: map2<op::less, std::uint8_t>(); break;
      case logical_not: map1<op::logical_not, std::int32_t>(); break;
      case integer_to_boolean: map1<op::integer_to_boolean, std::uint8_t>(); break;
      case select: choose(); break;
      case dist: distribute(); break;
      case add_scan: scan<op::add>(); break;
      case add_reduce: reduce<op::add>(); break;
      case permute: move(); break;
      default: failed_ = failure::instruction;
    }
  }

  // ---- elementwise, on INT

  template <class Operation, class Result>
  void map1() {
    const value a = take();
    if (a.is_scalar()) return push(scalar_of<Result>(Operation{}(a.scalar)));
    const value to = result<Result>(a);
    if (failed_ != failure::none) return;
    const auto* const x = memory_.block<std::int32_t>(a.block);
    write<Result>(to, [x](std::uint32_t i) { return Operation{}(x[i]); });
    finish(to, a);
  }

  template <class Operation, class Result>
  void map2() {
    const value b = take(), a = take();
    if (a.length != b.length) return fail(failure::lengths);
    if (a.is_scalar()) return push(scalar_of<Result>(Operation{}(a.scalar, b.scalar)));
    const value to = result<Result>(a);
    if (failed_ != failure::none) return;
    const auto* const x = memory_.block<std::int32_t>(a.block);
    const auto* const y = memory_.block<std::int32_t>(b.block);
    write<Result>(to, [x, y](std::uint32_t i) { return Operation{}(x[i], y[i]); });
    finish(to, a, b);
  }

  void choose() {
    const value b = take(), a = take(), flags = take();
    if (a.length != b.length || a.length != flags.length) return fail(failure::lengths);
    const vcode::op::select select;
    if (a.is_scalar())
      return push(scalar_of<std::int32_t>(
          select(static_cast<std::uint8_t>(flags.scalar), a.scalar, b.scalar)));
    const value to = result<std::int32_t>(a);
    if (failed_ != failure::none) return;
    const auto* const f = memory_.block<std::uint8_t>(flags.block);
    const auto* const x = memory_.block<std::int32_t>(a.block);
    const auto* const y = memory_.block<std::int32_t>(b.block);
    write<std::int32_t>(to, [=](std::uint32_t i) { return select(f[i], x[i], y[i]); });
    finish(to, a, b, flags);
  }

  // ---- along the segment

  void distribute() {
    const value segments = take(), element = take();
    if (element.length != 1) return fail(failure::lengths);
    if (segments.length == 1) return push(element);
    const value to = make(kind::integer, segments.length);
    if (failed_ != failure::none) return;
    write<std::int32_t>(to, [&](std::uint32_t) { return element.scalar; });
    finish(to);
  }

  // Exclusive. In two sweeps: the parts' values, and the parts.
  template <class Operation>
  void scan() {
    constexpr std::int32_t none = vcode::op::identity<Operation, std::int32_t>;
    const value segments = take(), a = take();
    if (a.length != segments.length) return fail(failure::lengths);
    if (a.is_scalar()) return push(scalar_of<std::int32_t>(none));
    const value to = result<std::int32_t>(a);
    if (failed_ != failure::none) return;
    std::int32_t sum = combine_parts<Operation>(a, rank_);
    const auto* const x = memory_.block<std::int32_t>(a.block);
    write<std::int32_t>(to, [&](std::uint32_t i) {
      const std::int32_t before = sum;
      sum = Operation{}(sum, x[i]);
      return before;
    });
    finish(to, a);
  }

  // Each core combines the values of all parts, so all have the result.
  template <class Operation>
  void reduce() {
    const value segments = take(), a = take();
    if (a.length != segments.length) return fail(failure::lengths);
    if (a.is_scalar()) return push(a);
    push(scalar_of<std::int32_t>(combine_parts<Operation>(a, ranks_)));
    release(a);
  }

  // Combines the parts of the first `ranks` cores. One barrier.
  template <class Operation>
  std::int32_t combine_parts(const value& a, std::uint32_t ranks) {
    constexpr std::int32_t none = vcode::op::identity<Operation, std::int32_t>;
    const auto* const x = memory_.block<std::int32_t>(a.block);
    const range mine = part_of(a.length);
    std::int32_t sum = none;
    for (std::uint32_t i = mine.begin; i < mine.end; ++i) sum = Operation{}(sum, x[i]);
    const std::uint32_t set = episode_ % 2;
    memory_.desks[rank_].part[set] = sum;
    meet();
    std::int32_t all = none;
    for (std::uint32_t r = 0; r < ranks; ++r) all = Operation{}(all, memory_.desks[r].part[set]);
    return all;
  }

  // ---- moving

  // Every index must be a place, and none may appear twice: each core leaves its elements' numbers
  // at their places, and finds out behind a barrier whether they are still there.
  void move() {
    const value segments = take(), index = take(), a = take();
    if (a.length != index.length || a.length != segments.length) return fail(failure::lengths);
    if (a.is_scalar()) {
      if (index.scalar != 0) return fail(failure::index_outside);
      return push(a);
    }
    const value to = make(kind::integer, a.length);
    if (failed_ != failure::none) return;
    const auto* const from = memory_.block<std::int32_t>(a.block);
    const auto* const places = memory_.block<std::int32_t>(index.block);
    auto* const out = memory_.block<std::int32_t>(to.block);
    const range mine = part_of(a.length);
    bool holds = true;
    for (std::uint32_t i = mine.begin; i < mine.end; ++i) {
      const auto place = static_cast<std::uint32_t>(places[i]);
      if (place >= static_cast<std::uint32_t>(a.length))
        holds = false;
      else
        memory_.mover[place] = static_cast<std::int32_t>(i);
    }
    if (!all_hold(holds)) return fail(failure::index_outside);
    for (std::uint32_t i = mine.begin; i < mine.end; ++i) {
      holds = holds && memory_.mover[places[i]] == static_cast<std::int32_t>(i);
      out[places[i]] = from[i];
    }
    if (!all_hold(holds)) return fail(failure::index_twice);
    push(to);
    release(a);
    release(index);
  }

  // ---- what all have

  // Parts end at lines, of BOOL too. A division takes 34 cycles, and most vectors are as long as
  // the one before.
  range part_of(std::int32_t length) noexcept {
    if (length == divided_) return part_;
    divided_ = length;
    const auto count = static_cast<std::uint32_t>(length);
    const std::uint32_t lines = (count + CACHE_LINE - 1) / CACHE_LINE;
    const auto limit = [&](std::uint32_t part) {
      const std::uint32_t at = lines * part / ranks_ * CACHE_LINE;
      return at < count ? at : count;
    };
    return part_ = {limit(rank_), limit(rank_ + 1)};
  }

  template <class T, class Element>
  void write(const value& to, Element element) {
    T* const out = memory_.block<T>(to.block);
    const range mine = part_of(to.length);
    for (std::uint32_t i = mine.begin; i < mine.end; ++i) out[i] = element(i);
  }

  void meet() {
    barrier_();
    ++episode_;
    ++meets_;
  }
  // One barrier.
  bool all_hold(bool mine) {
    const std::uint32_t set = episode_ % 2;
    memory_.desks[rank_].holds[set] = mine;
    meet();
    bool all = true;
    for (std::uint32_t r = 0; r < ranks_; ++r) all = all && memory_.desks[r].holds[set];
    return all;
  }

  void fail(failure what) noexcept { failed_ = what; }
  void push(const value& v) noexcept {
    if (top_ == most_values) return fail(failure::no_memory);
    stack_[top_++] = v;
  }
  value take() noexcept { return stack_[--top_]; }
  bool take_flag() noexcept {
    const value v = take();
    if (v.type != kind::boolean || v.length != 1) fail(failure::no_flag);
    return v.scalar != 0;
  }
  template <class T>
  static value scalar_of(T element) noexcept {
    return {sizeof(T) == 1 ? kind::boolean : kind::integer, 0, 1, element};
  }

  // All cores take and release the same blocks in the same order. They use one again only after a
  // barrier, since an instruction releases its operands behind its last one.
  value make(kind type, std::int32_t length) noexcept {
    if (length == 1) return {type, 0, 1, 0};
    if (taken_ == vector_memory::blocks || length < 0 ||
        length > static_cast<std::int32_t>(most_elements)) {
      fail(failure::no_memory);
      return {};
    }
    const std::uint8_t block = free_[taken_++];
    references_[block] = 1;
    return {type, block, length, 0};
  }
  // A vector as long as `a`, or a's own block if nothing else refers to it and the elements have
  // one size: each core writes only elements that it alone reads.
  template <class T>
  value result(const value& a) noexcept {
    if (sizeof(T) == sizeof(std::int32_t) && references_[a.block] == 1) {
      ++references_[a.block];
      return a;
    }
    return make(sizeof(T) == 1 ? kind::boolean : kind::integer, a.length);
  }
  void release(const value& v) noexcept {
    if (v.is_scalar() || --references_[v.block] > 0) return;
    free_[--taken_] = v.block;
  }
  template <class... Operands>
  void finish(const value& to, const Operands&... operands) {
    meet();
    push(to);
    (release(operands), ...);
  }

  static constexpr std::uint32_t most_values = 48;

  vector_memory& memory_;
  const std::uint32_t rank_, ranks_;
  Meet& barrier_;
  std::uint32_t episode_ = 0, instructions_ = 0, meets_ = 0, cycles_ = 0;
  failure failed_ = failure::none;
  std::int32_t divided_ = 0;
  range part_{};
  value stack_[most_values];
  std::uint32_t top_ = 0;
  // The blocks that are not taken, from taken_ on.
  std::uint8_t free_[vector_memory::blocks];
  std::uint32_t taken_ = 0;
  std::uint8_t references_[vector_memory::blocks]{};
};

}  // namespace tutti::rtl
