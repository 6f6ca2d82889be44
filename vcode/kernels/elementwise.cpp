// SPDX-License-Identifier: Apache-2.0
// The elementwise kernels: one loop for each number of operands, compiled for each Highway target
// in targets.hpp.
#include "vcode/kernels/elementwise.hpp"

#include <algorithm>

#include "vcode/kernels/operations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vcode/kernels/elementwise.cpp"
#include "vcode/kernels/targets.hpp"
// Highway includes this file once for each target.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "vcode/kernels/vector_unit.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::vcode::HWY_NAMESPACE {
namespace {

template <class Operation, class A>
void map1(const void* a, const void* /*b*/, const void* /*c*/, void* out, std::size_t count) {
  using R = decltype(Operation{}(A{}));
  const A* const x = static_cast<const A*>(a);
  R* const to = static_cast<R*>(out);
  TUTTI_VCODE_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) to[i] = Operation{}(x[i]);
}

template <class Operation, class A>
void map2(const void* a, const void* b, const void* /*c*/, void* out, std::size_t count) {
  using R = decltype(Operation{}(A{}, A{}));
  const A* const x = static_cast<const A*>(a);
  const A* const y = static_cast<const A*>(b);
  R* const to = static_cast<R*>(out);
  TUTTI_VCODE_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) to[i] = Operation{}(x[i], y[i]);
}

template <class A>
void choose(const void* flags, const void* a, const void* b, void* out, std::size_t count) {
  const auto* const f = static_cast<const std::uint8_t*>(flags);
  const A* const x = static_cast<const A*>(a);
  const A* const y = static_cast<const A*>(b);
  A* const to = static_cast<A*>(out);
  TUTTI_VCODE_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) to[i] = op::select{}(f[i], x[i], y[i]);
}

template <class Operation>
elementwise_kernel number2(kind type) {
  return type == kind::real ? map2<Operation, double> : map2<Operation, std::int32_t>;
}
template <class Operation>
elementwise_kernel bits2(kind type) {
  return type == kind::boolean ? map2<Operation, std::uint8_t> : map2<Operation, std::int32_t>;
}

template <double (*Function)(double)>
elementwise_kernel function1() {
  return map1<op::mathematical<Function>, double>;
}

elementwise_kernel find(opcode code, kind type) {
  switch (code) {
    case opcode::add: return number2<op::add>(type);
    case opcode::subtract: return number2<op::subtract>(type);
    case opcode::multiply: return number2<op::multiply>(type);
    case opcode::divide: return number2<op::divide>(type);
    case opcode::remainder: return map2<op::remainder, std::int32_t>;
    case opcode::less: return number2<op::less>(type);
    case opcode::less_equal: return number2<op::less_equal>(type);
    case opcode::greater: return number2<op::greater>(type);
    case opcode::greater_equal: return number2<op::greater_equal>(type);
    case opcode::equal: return number2<op::equal>(type);
    case opcode::not_equal: return number2<op::not_equal>(type);
    case opcode::shift_left: return map2<op::shift_left, std::int32_t>;
    case opcode::shift_right: return map2<op::shift_right, std::int32_t>;
    case opcode::logical_not:
      return type == kind::boolean ? map1<op::logical_not, std::uint8_t>
                                   : map1<op::logical_not, std::int32_t>;
    case opcode::logical_and: return bits2<op::logical_and>(type);
    case opcode::logical_or: return bits2<op::logical_or>(type);
    case opcode::logical_xor: return bits2<op::logical_xor>(type);
    case opcode::select:
      if (type == kind::real) return choose<double>;
      return type == kind::boolean ? choose<std::uint8_t> : choose<std::int32_t>;
    case opcode::floor: return map1<op::floor, double>;
    case opcode::ceil: return map1<op::ceil, double>;
    case opcode::trunc: return map1<op::trunc, double>;
    case opcode::round: return map1<op::round, double>;
    case opcode::sqrt: return map1<op::sqrt, double>;
    case opcode::log: return function1<std::log>();
    case opcode::exp: return function1<std::exp>();
    case opcode::sin: return function1<std::sin>();
    case opcode::cos: return function1<std::cos>();
    case opcode::tan: return function1<std::tan>();
    case opcode::asin: return function1<std::asin>();
    case opcode::acos: return function1<std::acos>();
    case opcode::atan: return function1<std::atan>();
    case opcode::sinh: return function1<std::sinh>();
    case opcode::cosh: return function1<std::cosh>();
    case opcode::tanh: return function1<std::tanh>();
    case opcode::integer_to_real: return map1<op::integer_to_real, std::int32_t>;
    case opcode::integer_to_boolean: return map1<op::integer_to_boolean, std::int32_t>;
    case opcode::boolean_to_integer: return map1<op::boolean_to_integer, std::uint8_t>;
    default: return nullptr;
  }
}

// A double that is not smaller than |1 / divisor| and at most 2^-51 larger, relatively. Its product
// with an INT, truncated, is the exact quotient: a quotient that is no integer is further than
// 2^-31 of itself away from the next one.
double reciprocal(std::int32_t divisor) {
  const double exact = 1.0 / divisor;
  return exact + exact * 0x1p-52;
}

// For divisors other than -1 and 0, of which every quotient is an INT.
struct quotient_by {
  explicit quotient_by(std::int32_t d) : factor(reciprocal(d)) {}
  std::int32_t operator()(std::int32_t a) const { return static_cast<std::int32_t>(a * factor); }
  double factor;
};

// Combines each INT with one divisor by Operation, which is result_of(element, quotient) except for
// the divisor -1.
template <class Operation, class ResultOf>
void map_by(const void* a, const void* b, const void* c, void* out, std::size_t count,
            ResultOf result_of) {
  const std::int32_t divisor = *static_cast<const std::int32_t*>(b);
  if (divisor == -1) return map2<Operation, std::int32_t>(a, b, c, out, count);
  const quotient_by quotient(divisor);
  const auto* const x = static_cast<const std::int32_t*>(a);
  auto* const to = static_cast<std::int32_t*>(out);
  TUTTI_VCODE_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) to[i] = result_of(x[i], quotient(x[i]), divisor);
}

void divide_by(const void* a, const void* b, const void* c, void* out, std::size_t count) {
  map_by<op::divide>(a, b, c, out, count,
                     [](std::int32_t, std::int32_t quotient, std::int32_t) { return quotient; });
}

void remainder_by(const void* a, const void* b, const void* c, void* out, std::size_t count) {
  map_by<op::remainder>(a, b, c, out, count,
                        [](std::int32_t x, std::int32_t quotient, std::int32_t divisor) {
                          return op::wrap(op::bits(x) - op::bits(quotient) * op::bits(divisor));
                        });
}

elementwise_kernel find_by_constant(opcode code, kind type) {
  if (code == opcode::remainder) return remainder_by;
  return code == opcode::divide && type == kind::integer ? divide_by : nullptr;
}

bool zero_in(const std::int32_t* data, std::size_t count) {
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) found |= data[i] == 0;
  return found;
}

bool below(const std::int32_t* data, std::size_t count, std::uint32_t limit) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, static_cast<std::uint32_t>(data[i]));
  }
  return count == 0 || largest < limit;
}

void count_from(std::uint32_t start, std::uint32_t stride, std::int32_t* out, std::size_t count) {
  TUTTI_VCODE_INDEPENDENT
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(count); ++i) {
    out[i] = static_cast<std::int32_t>(start + stride * i);
  }
}

}  // namespace
}  // namespace tutti::vcode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::vcode {

TUTTI_VCODE_EXPORT(find);
TUTTI_VCODE_EXPORT(find_by_constant);
TUTTI_VCODE_EXPORT(zero_in);
TUTTI_VCODE_EXPORT(below);
TUTTI_VCODE_EXPORT(count_from);

elementwise find_elementwise(opcode code, kind type) {
  // For one element the plainest target's loop starts fastest.
  return {TUTTI_VCODE_CHOSEN(find)(code, type), HWY_STATIC_DISPATCH(find)(code, type),
          TUTTI_VCODE_CHOSEN(find_by_constant)(code, type)};
}
bool has_zero(const std::int32_t* data, std::size_t count) {
  return TUTTI_VCODE_CHOSEN(zero_in)(data, count);
}
bool all_below(const std::int32_t* data, std::size_t count, std::uint32_t limit) {
  return TUTTI_VCODE_CHOSEN(below)(data, count, limit);
}
void fill_progression(std::int32_t start, std::int32_t stride, std::int32_t* out,
                      std::size_t count) {
  TUTTI_VCODE_CHOSEN(count_from)
  (static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(stride), out, count);
}

}  // namespace tutti::vcode
#endif
