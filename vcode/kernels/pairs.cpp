// SPDX-License-Identifier: Apache-2.0
// One loop for each pair, compiled for each Highway target in targets.hpp.
#include "vcode/kernels/pairs.hpp"

#include <type_traits>

#include "vcode/kernels/operations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vcode/kernels/pairs.cpp"
#include "vcode/kernels/targets.hpp"
// Highway includes this file once for each target.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "vcode/kernels/vector_unit.hpp"

HWY_BEFORE_NAMESPACE();
namespace tutti::vcode::HWY_NAMESPACE {
namespace {

template <class Outer, class Inner, class T, bool on_left>
void pair_of(const void* a, const void* b, const void* c, void* out, std::size_t count) {
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  const T* const z = static_cast<const T*>(c);
  T* const to = static_cast<T*>(out);
  TUTTI_VCODE_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = on_left ? Outer{}(Inner{}(x[i], y[i]), z[i]) : Outer{}(x[i], Inner{}(y[i], z[i]));
  }
}

// With I_TO_F as the inner instruction.
template <class Outer, bool on_left>
void converted(const void* a, const void* b, const void* /*c*/, void* out, std::size_t count) {
  using left = std::conditional_t<on_left, std::int32_t, double>;
  using right = std::conditional_t<on_left, double, std::int32_t>;
  const auto* const x = static_cast<const left*>(a);
  const auto* const y = static_cast<const right*>(b);
  auto* const to = static_cast<double*>(out);
  TUTTI_VCODE_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = Outer{}(static_cast<double>(x[i]), static_cast<double>(y[i]));
  }
}

template <class Outer, class Inner, class T>
elementwise_kernel on_side(bool on_left) {
  return on_left ? pair_of<Outer, Inner, T, true> : pair_of<Outer, Inner, T, false>;
}

template <class Outer, class T>
elementwise_kernel with_inner(opcode inner, bool on_left) {
  switch (inner) {
    case opcode::add: return on_side<Outer, op::add, T>(on_left);
    case opcode::subtract: return on_side<Outer, op::subtract, T>(on_left);
    case opcode::multiply: return on_side<Outer, op::multiply, T>(on_left);
    default: return nullptr;
  }
}

template <class Outer>
elementwise_kernel with_conversion(bool on_left) {
  return on_left ? converted<Outer, true> : converted<Outer, false>;
}

template <class T>
elementwise_kernel same_type(opcode outer, opcode inner, bool on_left) {
  switch (outer) {
    case opcode::add: return with_inner<op::add, T>(inner, on_left);
    case opcode::subtract: return with_inner<op::subtract, T>(inner, on_left);
    case opcode::multiply: return with_inner<op::multiply, T>(inner, on_left);
    default: return nullptr;
  }
}

elementwise_kernel loop_of_pair(opcode outer, kind type, opcode inner, kind inner_type,
                                bool on_left) {
  if (type == kind::integer && inner_type == kind::integer) {
    return same_type<std::int32_t>(outer, inner, on_left);
  }
  if (type != kind::real) return nullptr;
  if (inner == opcode::integer_to_real) {
    switch (outer) {
      case opcode::add: return with_conversion<op::add>(on_left);
      case opcode::subtract: return with_conversion<op::subtract>(on_left);
      case opcode::multiply: return with_conversion<op::multiply>(on_left);
      case opcode::divide: return with_conversion<op::divide>(on_left);
      default: return nullptr;
    }
  }
  return inner_type == kind::real ? same_type<double>(outer, inner, on_left) : nullptr;
}

}  // namespace
}  // namespace tutti::vcode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tutti::vcode {

TUTTI_VCODE_EXPORT(loop_of_pair);

elementwise_kernel find_pair(opcode outer, kind type, opcode inner, kind inner_type, bool on_left) {
  return TUTTI_VCODE_CHOSEN(loop_of_pair)(outer, type, inner, inner_type, on_left);
}

}  // namespace tutti::vcode
#endif
