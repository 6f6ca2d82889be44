// SPDX-License-Identifier: Apache-2.0
// The effect of each elementwise instruction on one element; elementwise.cpp loops over the
// elements. INT wraps; no operation has undefined behaviour. "The original" is the interpreter
// whose output vcode/tests/programs/ records.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace tutti::vcode::op {

// Stands before a loop over elements and tells the compiler that it may vectorize the loop: the
// elements of one call do not depend on each other, even where the result overwrites an operand.
#if defined(__clang__)
#define TUTTI_VCODE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TUTTI_VCODE_INDEPENDENT _Pragma("GCC ivdep")
#endif

using std::int32_t;
using std::uint32_t;
using std::uint8_t;

constexpr int32_t lowest_integer = std::numeric_limits<int32_t>::min();

// Converts as x86 does: a value that no INT can hold becomes the lowest INT.
inline int32_t to_integer(double x) {
  const bool fits = x > -2147483649.0 && x < 2147483648.0;
  return fits ? static_cast<int32_t>(fits ? x : 0.0) : lowest_integer;
}

inline int32_t wrap(uint32_t x) { return static_cast<int32_t>(x); }
inline uint32_t bits(int32_t x) { return static_cast<uint32_t>(x); }

struct add {
  int32_t operator()(int32_t a, int32_t b) const { return wrap(bits(a) + bits(b)); }
  double operator()(double a, double b) const { return a + b; }
};
struct subtract {
  int32_t operator()(int32_t a, int32_t b) const { return wrap(bits(a) - bits(b)); }
  double operator()(double a, double b) const { return a - b; }
};
struct multiply {
  int32_t operator()(int32_t a, int32_t b) const { return wrap(bits(a) * bits(b)); }
  double operator()(double a, double b) const { return a * b; }
};
// The caller has checked that no divisor is 0. The double quotient of two INTs, truncated, is their
// exact integer quotient, and processors have vector division only for floating point.
struct divide {
  int32_t operator()(int32_t a, int32_t b) const {
    return to_integer(static_cast<double>(a) / static_cast<double>(b));
  }
  double operator()(double a, double b) const { return a / b; }
};
struct remainder {
  int32_t operator()(int32_t a, int32_t b) const {
    return wrap(bits(a) - bits(divide{}(a, b)) * bits(b));
  }
};
struct less {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a < b ? 1 : 0;
  }
};
struct less_equal {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a <= b ? 1 : 0;
  }
};
struct greater {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a > b ? 1 : 0;
  }
};
struct greater_equal {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a >= b ? 1 : 0;
  }
};
struct equal {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a == b ? 1 : 0;
  }
};
struct not_equal {
  template <class T>
  uint8_t operator()(T a, T b) const {
    return a != b ? 1 : 0;
  }
};
// Shifts as x86 does: by the low five bits of the count.
struct shift_left {
  int32_t operator()(int32_t a, int32_t b) const { return wrap(bits(a) << (bits(b) & 31)); }
};
struct shift_right {
  int32_t operator()(int32_t a, int32_t b) const { return a >> (bits(b) & 31); }
};
// These four work bit by bit on INT.
struct logical_not {
  int32_t operator()(int32_t a) const { return ~a; }
  uint8_t operator()(uint8_t a) const { return a ^ 1; }
};
struct logical_and {
  int32_t operator()(int32_t a, int32_t b) const { return a & b; }
  uint8_t operator()(uint8_t a, uint8_t b) const { return a & b; }
};
struct logical_or {
  int32_t operator()(int32_t a, int32_t b) const { return a | b; }
  uint8_t operator()(uint8_t a, uint8_t b) const { return a | b; }
};
struct logical_xor {
  int32_t operator()(int32_t a, int32_t b) const { return a ^ b; }
  uint8_t operator()(uint8_t a, uint8_t b) const { return a ^ b; }
};
struct select {
  template <class T>
  T operator()(uint8_t flag, T a, T b) const {
    return flag != 0 ? a : b;
  }
};
struct maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};
struct minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct floor {
  int32_t operator()(double a) const { return to_integer(std::floor(a)); }
};
struct ceil {
  int32_t operator()(double a) const { return to_integer(std::ceil(a)); }
};
struct trunc {
  int32_t operator()(double a) const { return to_integer(a); }
};
// Adds 0.5 and truncates, as the original does, so -1.25 becomes 0 and -5.75 becomes -5.
struct round {
  int32_t operator()(double a) const { return to_integer(a + 0.5); }
};
struct sqrt {
  double operator()(double a) const { return std::sqrt(a); }
};
// The functions of the C library. The original calls them too, so that the last digits that
// programs print are the same.
template <double (*Function)(double)>
struct mathematical {
  double operator()(double a) const { return Function(a); }
};
struct integer_to_real {
  double operator()(int32_t a) const { return a; }
};
struct integer_to_boolean {
  uint8_t operator()(int32_t a) const { return a != 0 ? 1 : 0; }
};
struct boolean_to_integer {
  int32_t operator()(uint8_t a) const { return a; }
};

// The identity of each operation that scans and reductions combine with: 0 unless stated below. A
// program sees it as the result of an empty segment, so FLOAT maximum and minimum have the
// original's, which are finite.
template <class Operation, class T>
inline constexpr T identity = T{0};
template <class T>
inline constexpr T identity<multiply, T> = T{1};
template <>
inline constexpr int32_t identity<maximum, int32_t> = lowest_integer;
template <>
inline constexpr int32_t identity<minimum, int32_t> = std::numeric_limits<int32_t>::max();
template <>
inline constexpr double identity<maximum, double> = -static_cast<double>(1e36F);
template <>
inline constexpr double identity<minimum, double> = static_cast<double>(1e36F);
template <>
inline constexpr int32_t identity<logical_and, int32_t> = -1;
template <>
inline constexpr uint8_t identity<logical_and, uint8_t> = 1;

}  // namespace tutti::vcode::op
