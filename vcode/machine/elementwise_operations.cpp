// SPDX-License-Identifier: Apache-2.0
// Elementwise instructions: scalars are computed at once, vectors in parts or deferred.
#include <fmt/format.h>

#include "vcode/machine/deferred.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

bool all_scalar(const value* v, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (!v[i].is_scalar()) return false;
  }
  return true;
}

void require_same_lengths(const value* v, unsigned count) {
  for (unsigned i = 1; i < count; ++i) {
    if (v[i].length() == v[0].length()) continue;
    fail(fmt::format("operand 1 has length {}, operand {} has length {}", v[0].length(), i + 1,
                     v[i].length()));
  }
}

bool divides(opcode code, kind type) {
  return code == opcode::remainder || (code == opcode::divide && type == kind::integer);
}

void require_no_zero(context& c, const value& divisor) {
  if (const fusable* const f = divisor.vector()->deferred;
      f != nullptr && f->source == source_kind::constant) {
    if (f->operand[0].integer() == 0) fail("division by zero: element 0 of the divisor");
    return;
  }
  const auto* const data = elements<std::int32_t>(c, divisor);
  const auto count = static_cast<std::size_t>(divisor.length());
  const unsigned parts = c.workers.parts(count);
  if (c.workers.all(parts, [&](unsigned part) {
        const range mine = part_of(count, part, parts);
        return !has_zero(data + mine.begin, mine.size());
      })) {
    return;
  }
  std::size_t at = 0;
  while (data[at] != 0) ++at;
  fail(fmt::format("division by zero: element {} of the divisor", at));
}

void compute(context& c, const step& s, value* v) {
  const unsigned operands = s.operands;
  const auto count = static_cast<std::size_t>(v[0].length());
  const void* in[3] = {};
  std::size_t bytes = size_of(s.result);
  std::size_t element[3] = {};
  int reused = -1;
  for (unsigned i = 0; i < operands; ++i) {
    in[i] = elements<void>(c, v[i]);
    element[i] = size_of(v[i].type());
    bytes += element[i];
    if (reused < 0 && is_reusable(v[i], s.result)) reused = static_cast<int>(i);
  }
  const std::size_t size = size_of(s.result);
  result_vector made = reused >= 0 ? result_vector(c, s.result, v[reused])
                                   : result_vector(c, s.result, v[0].length());
  auto* const out = made.data<std::byte>();
  const unsigned parts = c.workers.parts(count);
  c.workers.each(parts, [&](unsigned part) {
    const range mine = part_of(count, part, parts);
    const auto from = [&](unsigned i) {
      return static_cast<const std::byte*>(in[i]) + mine.begin * element[i];
    };
    s.vector(from(0), from(1), from(2), out + mine.begin * size, mine.size());
  });
  for (unsigned i = 0; i < operands; ++i) c.memory.release(v[i]);
  v[0] = made.finish();
  count_pass(c, count, count * bytes);
}

}  // namespace

void run_elementwise(context& c, const step& s, value* v) {
  if (all_scalar(v, s.operands)) {
    if (divides(s.code, s.type) && v[1].integer() == 0) fail("division by zero");
    double element = 0;
    s.scalar(v[0].address(), v[1].address(), v[2].address(), &element, 1);
    v[0] = value::from(s.result, &element);
    return;
  }
  ++c.statistics.vector_instructions;
  require_same_lengths(v, s.operands);
  const bool may_fail = divides(s.code, s.type);
  if (may_fail) require_no_zero(c, v[1]);
  if (c.defer_from != 0 && static_cast<std::size_t>(v[0].length()) >= c.defer_from) {
    v[0] = defer_elementwise(c, s, v);
    return;
  }
  compute(c, s, v);
}

}  // namespace tutti::vcode
