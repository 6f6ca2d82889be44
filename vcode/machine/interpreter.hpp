// SPDX-License-Identifier: Apache-2.0
// The stack machine: handles stack, control and scalars itself and calls operations for vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "vcode/machine/context.hpp"
#include "vcode/machine/prepare.hpp"
#include "vcode/machine/timeline.hpp"

namespace tutti::vcode {

class interpreter {
 public:
  interpreter(const prepared_program& program, context& c);

  // Returns false if the program ended by EXIT. Throws run_error.
  bool run(const std::vector<vector_value>& inputs);
  // Lets traces give times by this clock.
  void stamp_traces(const timeline& times) { times_ = &times; }
  // Returns what the program left, bottom first.
  std::vector<vector_value> stack();
  // Prints it instead.
  void print_stack(std::FILE* to);

 private:
  template <bool Traced, bool Spmd, bool Limited>
  bool loop();
  // Fails if the run has reached its limit of instructions or of time.
  void require_within_limits(std::uint64_t executed);
  bool start();
  void grow(std::size_t more);
  void grow_returns();
  void push_constants();
  bool take_flag(const value& v);
  void trace(const step& s, const value* top);
  const step* enter(const step& call, const step* code);
  [[noreturn]] void rethrow_with_place(const std::exception& e) const;
  // Calls act() and adds the position of the instruction to what it throws.
  template <class Act>
  auto with_place(Act&& act) const;

  const prepared_program& program_;
  context& c_;
  const timeline* times_ = nullptr;
  std::vector<value> constants_;
  std::unique_ptr<value[]> values_;
  std::size_t capacity_ = 0;
  // Points behind the last value.
  value* top_ = nullptr;
  value* limit_ = nullptr;
  const step* at_ = nullptr;
  std::vector<std::uint32_t> returns_;
  // The bytes of the two stacks that are counted in the memory for vectors.
  std::size_t counted_values_ = 0;
  std::size_t counted_returns_ = 0;
  // When the time is over, by the run's clock; 0 if there is no such limit.
  std::uint64_t deadline_ns_ = 0;
  // Indexed by the first instruction of a function.
  std::vector<std::uint32_t> growth_;
};

}  // namespace tutti::vcode
