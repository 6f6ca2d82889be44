// SPDX-License-Identifier: Apache-2.0
// Dispatches instructions. The verifier has checked that operands exist and have the right types,
// so the interpreter checks only what depends on data.
#include "vcode/machine/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "vcode/io/format.hpp"
#include "vcode/machine/host.hpp"

namespace tutti::vcode {
namespace {

constexpr std::size_t deepest_call = std::size_t{1} << 26;
// Operations may use the places above their operands until they return.
constexpr std::size_t slack = 8;

// The most bytes that a stack of values takes.
constexpr std::size_t largest_stack = std::size_t{1} << 30;
// The bytes that each of the two stacks may take in any case, however little memory vectors may
// take: enough for nearly every program that ends. Interpreters that do the same share them.
constexpr std::size_t free_stack = std::size_t{1} << 24;

// Counts the rest of a stack of `bytes`, which replaces one of which `counted` were counted, and
// calls replace(). Returns false, and does not call it, if the memory for vectors has no room.
template <class Replace>
bool replace_stack(store& memory, std::size_t bytes, std::size_t& counted, Replace&& replace) {
  const std::size_t more = bytes - std::min(bytes, free_stack / memory.copies());
  // While the contents are moved, both stacks are there.
  if (!memory.take_outside(more)) return false;
  replace();
  memory.give_back_outside(std::exchange(counted, more));
  return true;
}

}  // namespace

interpreter::interpreter(const prepared_program& program, context& c) : program_(program), c_(c) {
  growth_.resize(program.steps.size());
  for (const auto& each : program.data->functions) growth_[each.begin] = each.growth;
}

void interpreter::push_constants() {
  for (const auto& each : program_.data->constants) {
    if (each.type == kind::real) {
      constants_.push_back(
          each.reals.size() == 1
              ? value::of(each.reals[0])
              : value(c_.memory.borrow(kind::real, static_cast<std::int32_t>(each.reals.size()),
                                       each.reals.data())));
    } else if (each.integers.size() == 1) {
      constants_.push_back(each.type == kind::boolean
                               ? value::of(each.integers[0] != 0)
                               : value::from(each.type, each.integers.data()));
    } else if (each.type == kind::boolean) {
      std::vector<std::uint8_t> flags(each.integers.begin(), each.integers.end());
      constants_.push_back(to_machine(c_, kind::boolean, flags.data(), flags.size()));
    } else {
      constants_.push_back(value(c_.memory.borrow(
          each.type, static_cast<std::int32_t>(each.integers.size()), each.integers.data())));
    }
  }
}

void interpreter::grow(std::size_t more) {
  const auto used = static_cast<std::size_t>(top_ - values_.get());
  const std::size_t wanted = std::max(used + more + slack, 2 * capacity_);
  const auto replace = [&] {
    auto larger = std::make_unique<value[]>(wanted);
    std::copy_n(values_.get(), used, larger.get());
    values_ = std::move(larger);
  };
  if (used + more > largest_stack / sizeof(value) ||
      !replace_stack(c_.memory, wanted * sizeof(value), counted_values_, replace))
    fail("the recursion leaves too many values on the stack");
  capacity_ = wanted;
  top_ = values_.get() + used;
  limit_ = values_.get() + wanted - slack;
}

void interpreter::grow_returns() {
  constexpr std::size_t fewest = 64;
  const std::size_t wanted = std::max(fewest, 2 * returns_.size());
  if (returns_.size() >= deepest_call ||
      !replace_stack(c_.memory, wanted * sizeof(returns_[0]), counted_returns_,
                     [&] { returns_.reserve(wanted); }))
    fail("the recursion is too deep");
}

bool interpreter::take_flag(const value& v) {
  if (v.is_scalar()) return v.boolean();
  // The original takes the first element, unless it checks arguments.
  if (c_.options.check || v.length() == 0) {
    fail(fmt::format("the flag has length {}, not 1", v.length()));
  }
  const bool flag = *elements<std::uint8_t>(c_, v) != 0;
  c_.memory.release(v);
  return flag;
}

void interpreter::trace(const step& s, const value* top) {
  std::string text;
  if (times_ != nullptr) text = fmt::format("{:.3f} µs  ", times_->now());
  text += fmt::format("{}: {}", s.line, info(s.code).name);
  if (s.type != kind::none) text += fmt::format(" {}", name_of(s.type));
  const auto depth = static_cast<std::size_t>(top - values_.get());
  text += fmt::format("  [{} on the stack", depth);
  if (depth > 0) text += fmt::format(", {} x {} on top", name_of(top[-1].type()), top[-1].length());
  fmt::print(c_.options.trace, "{}]\n", text);
}

const step* interpreter::enter(const step& call, const step* code) {
  if (call.second == 0) {
    if (returns_.size() == returns_.capacity()) grow_returns();
    returns_.push_back(static_cast<std::uint32_t>(&call - code) + 1);
  }
  const std::size_t more = growth_[static_cast<std::size_t>(call.first)];
  if (static_cast<std::size_t>(limit_ - top_) < more) grow(more);
  return code + call.first;
}

template <bool Traced, bool Spmd, bool Limited>
bool interpreter::loop() {
  const step* const code = program_.steps.data();
  const step* at = at_;
  value* top = top_;
  std::uint64_t count = 0;
  // If an operation throws, this is the position for the message.
  const auto save = [&] {
    at_ = at;
    top_ = top;
  };
  while (true) {
    const step& s = *at;
    if constexpr (Limited) {
      save();
      require_within_limits(count);
    }
    ++count;
    if constexpr (Traced) trace(s, top);
    switch (s.code) {
      case opcode::copy: {
        const value* from = top - s.second - s.first;
        for (std::int32_t i = 0; i < s.first; ++i) {
          store::retain(*from);
          *top++ = *from++;
        }
        ++at;
        break;
      }
      case opcode::pop: {
        value* const end = top - s.second;
        value* const begin = end - s.first;
        for (value* v = begin; v != end; ++v) c_.memory.release(*v);
        for (std::int32_t i = 0; i < s.second; ++i) begin[i] = end[i];
        top -= s.first;
        ++at;
        break;
      }
      case opcode::cpop:
        if (s.first == 1) {
          value* const begin = top - s.second - 1;
          const value moved = *begin;
          for (std::int32_t i = 0; i < s.second; ++i) begin[i] = begin[i + 1];
          top[-1] = moved;
        } else if (s.first > 0) {
          value* const middle = top - s.second;
          std::rotate(middle - s.first, middle, top);
        }
        ++at;
        break;
      case opcode::constant: {
        const value v = constants_[static_cast<std::size_t>(s.first)];
        store::retain(v);
        *top++ = v;
        ++at;
        break;
      }
      case opcode::branch_if: {
        save();
        const bool flag = take_flag(*--top);
        at = flag ? at + 1 : code + s.first;
        break;
      }
      case opcode::branch_else: at = code + s.first; break;
      case opcode::end_if: ++at; break;
      case opcode::call:
        save();
        at = enter(s, code);
        top = top_;
        break;
      case opcode::ret:
        if (returns_.empty()) {
          if constexpr (Spmd) c_.workers.end_instruction();
          save();
          c_.statistics.instructions += count;
          return true;
        }
        at = code + returns_.back();
        returns_.pop_back();
        break;
      case opcode::exit:
        if constexpr (Spmd) c_.workers.end_instruction();
        c_.statistics.instructions += count;
        return false;
      case opcode::make_pair: {
        save();
        const value second = *--top;
        const value first = *--top;
        *top++ = value(c_.memory.make_pair(first, second));
        ++at;
        break;
      }
      case opcode::split_pair: {
        const value whole = *--top;
        const auto* const parts = static_cast<const pair_block*>(whole.vector());
        const value first = parts->first;
        const value second = parts->second;
        store::retain(first);
        store::retain(second);
        c_.memory.release(whole);
        *top++ = first;
        *top++ = second;
        ++at;
        break;
      }
      case opcode::start_timer:
      case opcode::stop_timer:
        save();
        // Compute what is deferred now: that work belongs to the time before the timer instruction.
        for (value* v = values_.get(); v != top; ++v) force(c_, *v);
        [[fallthrough]];
      default:
        save();
        s.run(c_, s, top - s.operands);
        top += s.change;
        ++at;
    }
    if constexpr (Spmd) c_.workers.end_instruction();
  }
}

bool interpreter::start() {
  const bool is_limited = c_.options.most_instructions != 0 || c_.options.most_seconds > 0;
  if (c_.options.trace != nullptr) {
    if (is_limited)
      return c_.workers.is_spmd() ? loop<true, true, true>() : loop<true, false, true>();
    return c_.workers.is_spmd() ? loop<true, true, false>() : loop<true, false, false>();
  }
  if (is_limited)
    return c_.workers.is_spmd() ? loop<false, true, true>() : loop<false, false, true>();
  return c_.workers.is_spmd() ? loop<false, true, false>() : loop<false, false, false>();
}

void interpreter::require_within_limits(std::uint64_t executed) {
  const std::uint64_t most = c_.options.most_instructions;
  if (most != 0 && executed >= most) {
    fail(fmt::format("the run has executed {} instructions, as many as its limit allows", most));
  }
  if (deadline_ns_ == 0) return;
  // Reading the clock takes longer than most instructions, and engine spmd has to agree on it.
  constexpr std::uint64_t seldom = 64;
  const bool is_vector = at_->run != nullptr && !c_.workers.is_spmd();
  if (!is_vector && executed % seldom != 0) return;
  if (c_.workers.agree([&] { return c_.clock() >= deadline_ns_; })) {
    fail(fmt::format("the run has taken {} seconds, as long as its limit allows",
                     c_.options.most_seconds));
  }
}

void interpreter::rethrow_with_place(const std::exception& e) const {
  const program_data& data = *program_.data;
  const auto index = static_cast<std::size_t>(at_ - program_.steps.data());
  const place where = data.code[index].where;
  throw run_error(fmt::format("{}:{}:{}: {} in {}: {}", data.file, where.line, where.column,
                              info(data.code[index].code).name, data.function_of(index).name,
                              e.what()));
}

template <class Act>
auto interpreter::with_place(Act&& act) const {
  try {
    return act();
  } catch (const machine_error& e) {
    rethrow_with_place(e);
  } catch (const std::bad_alloc&) {
    rethrow_with_place(machine_error("the system has no more memory"));
  }
}

bool interpreter::run(const std::vector<vector_value>& inputs) {
  const function& entry = program_.data->functions[program_.data->entry];
  at_ = program_.steps.data() + entry.begin;
  if (c_.options.most_seconds > 0) {
    deadline_ns_ = c_.clock() + static_cast<std::uint64_t>(c_.options.most_seconds * 1e9);
  }
  return with_place([&] {
    push_constants();
    grow(inputs.size() + entry.growth);
    for (const auto& each : inputs) *top_++ = to_machine(c_, each);
    const bool finished = start();
    // The caller reads the vectors that are still deferred, so compute them.
    for (value* v = values_.get(); finished && v != top_; ++v) force(c_, *v);
    return finished;
  });
}

void interpreter::print_stack(std::FILE* to) {
  with_place([&] {
    for (const value* v = values_.get(); v != top_; ++v) print(c_, *v, to);
  });
}

std::vector<vector_value> interpreter::stack() {
  return with_place([&] {
    std::vector<vector_value> made;
    for (const value* v = values_.get(); v != top_; ++v) made.push_back(to_host(c_, *v));
    return made;
  });
}

}  // namespace tutti::vcode
